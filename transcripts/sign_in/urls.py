"""Addresses of signing in and of one's own account. The views are django-allauth's, each named as
it names them; what is not here (signing up, connecting accounts by hand) is not there.
"""

from allauth.account import views as account_views
from allauth.mfa.base import views as mfa
from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.usersessions.views import list_usersessions
from django.urls import path

from transcripts.single_sign_on.views import cancelled, come_back, go_there
from transcripts.views.account import account, session_end
from transcripts.views.address import address_change, address_confirm
from transcripts.views.invitation_accept import invitation_accept
from transcripts.views.password_forgotten import password_forgotten

urlpatterns = [
    path("sign-in/", account_views.login, name="account_login"),
    path("sign-in/code/", mfa.authenticate, name="mfa_authenticate"),
    path("sign-in/again/", account_views.reauthenticate, name="account_reauthenticate"),
    path("sign-in/again/code/", mfa.reauthenticate, name="mfa_reauthenticate"),
    path("sign-in/with/", go_there, name="single_sign_on_login"),
    path("sign-in/with/back/", come_back, name="single_sign_on_callback"),
    path("sign-in/with/cancelled/", cancelled, name="socialaccount_login_cancelled"),
    path("sign-in/inactive/", account_views.account_inactive, name="account_inactive"),
    path("sign-out/", account_views.logout, name="account_logout"),
    path("invitation/<str:token>/", invitation_accept, name="invitation_accept"),
    path("password/forgotten/", password_forgotten, name="account_reset_password"),
    path(
        "password/<str:uidb36>/<str:key>/",
        account_views.password_reset_from_key,
        name="account_reset_password_from_key",
    ),
    path("account/", account, name="account"),
    path("account/", account, name="mfa_index"),
    path("account/address/", address_change, name="address_change"),
    path("account/address/<str:token>/", address_confirm, name="address_confirm"),
    path("account/password/", account_views.password_change, name="account_change_password"),
    path("account/password/set/", account_views.password_set, name="account_set_password"),
    path("account/second-factor/", totp.activate_totp, name="mfa_activate_totp"),
    path("account/second-factor/off/", totp.deactivate_totp, name="mfa_deactivate_totp"),
    path(
        "account/recovery-codes/",
        recovery_codes.view_recovery_codes,
        name="mfa_view_recovery_codes",
    ),
    path(
        "account/recovery-codes/new/",
        recovery_codes.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path("account/sessions/", list_usersessions, name="usersessions_list"),
    path("account/sessions/<int:pk>/end/", session_end, name="session_end"),
]
