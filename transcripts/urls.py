"""Pages of what was recorded, of who may read it, and of how it comes in, below `/p/<slug>/`."""

from django.urls import path

from transcripts.views.access_list import access_export, access_list
from transcripts.views.changes import change_back
from transcripts.views.deliveries import (
    deliveries_decide,
    delivery_detail,
    delivery_discard,
    delivery_list,
    delivery_retry,
    receipts,
)
from transcripts.views.invitations import invitation_again, invitation_withdraw
from transcripts.views.keys import key_list, key_revoke, key_rotate
from transcripts.views.member_accounts import member_factor, member_password, second_factor
from transcripts.views.members import member_change, member_list, member_remove
from transcripts.views.readers import run_readers
from transcripts.views.rounds import round_calls, round_input, round_text
from transcripts.views.run_export import run_export
from transcripts.views.run_masked import run_masked
from transcripts.views.send_runs import send_arrived, send_key, send_live, send_runs, send_test
from transcripts.views.upload import upload, upload_discard, upload_store

app_name = "transcripts"
urlpatterns = [
    path("send/", send_runs, name="send_runs"),
    path("send/key/", send_key, name="send_key"),
    path("send/test/", send_test, name="send_test"),
    path("send/live/", send_live, name="send_live"),
    path("send/arrived/", send_arrived, name="send_arrived"),
    path("send/files/", upload, name="upload"),
    path("send/files/store/", upload_store, name="upload_store"),
    path("send/files/discard/", upload_discard, name="upload_discard"),
    path("send/receipts/", receipts, name="receipts"),
    path("runs/<int:pk>/export/", run_export, name="run_export"),
    path("runs/<int:pk>/masked/", run_masked, name="run_masked"),
    path("runs/<int:pk>/readers/", run_readers, name="run_readers"),
    path("runs/<int:pk>/rounds/<int:number>/input/", round_input, name="round_input"),
    path("runs/<int:pk>/rounds/<int:number>/text/", round_text, name="round_text"),
    path("runs/<int:pk>/rounds/<int:number>/calls/", round_calls, name="round_calls"),
    path("settings/members/", member_list, name="member_list"),
    path("settings/members/<int:pk>/", member_change, name="member_change"),
    path("settings/members/<int:pk>/remove/", member_remove, name="member_remove"),
    path("settings/members/<int:pk>/password/", member_password, name="member_password"),
    path("settings/members/<int:pk>/second-factor/", member_factor, name="member_factor"),
    path("settings/second-factor/", second_factor, name="second_factor"),
    path("settings/invitations/<int:pk>/again/", invitation_again, name="invitation_again"),
    path(
        "settings/invitations/<int:pk>/withdraw/",
        invitation_withdraw,
        name="invitation_withdraw",
    ),
    path("settings/keys/<int:pk>/rotate/", key_rotate, name="key_rotate"),
    path("settings/keys/", key_list, name="key_list"),
    path("settings/keys/<int:pk>/revoke/", key_revoke, name="key_revoke"),
    path("deliveries/", delivery_list, name="delivery_list"),
    path("deliveries/decide/", deliveries_decide, name="deliveries_decide"),
    path("deliveries/<uuid:pk>/", delivery_detail, name="delivery_detail"),
    path("deliveries/<uuid:pk>/retry/", delivery_retry, name="delivery_retry"),
    path("deliveries/<uuid:pk>/discard/", delivery_discard, name="delivery_discard"),
    path("changes/<int:pk>/undo/", change_back, name="change_back"),
    path("settings/access/", access_list, name="access_list"),
    path("settings/access/export/", access_export, name="access_export"),
]
