"""Pages that show verdicts and findings, below `/p/<slug>/`."""

from django.urls import path

from analysis.views.alerts import (
    alert_channel_change,
    alert_message_change,
    alert_rule_remove,
    alerts,
)
from analysis.views.annotations import (
    annotation_change,
    annotation_gone,
    annotation_list,
    incident_annotate,
    run_annotate,
)
from analysis.views.call_test import call_test
from analysis.views.case_detail import case_accept, case_delete, case_detail, case_file
from analysis.views.case_edit import case_edit, case_history, case_return
from analysis.views.case_list import case_list, case_suite, case_upload
from analysis.views.case_make import case_make
from analysis.views.case_replay import case_replay, case_replay_text
from analysis.views.case_resolve import case_resolve
from analysis.views.detectors import detector_detail, detector_list
from analysis.views.examples import examples_gone, examples_load
from analysis.views.hand_off_list import hand_off_change, hand_off_list
from analysis.views.incident_detail import incident_change, incident_detail, incident_events
from analysis.views.incident_list import incident_list, incidents_change
from analysis.views.insights import insights
from analysis.views.jobs import job_detail, job_stop, runs_read_again
from analysis.views.limits import limits, limits_file
from analysis.views.live import live_list
from analysis.views.masking import (
    mask_rule,
    mask_rule_delete,
    masking,
    not_secret_delete,
    not_secret_list,
    runs_mask_again,
)
from analysis.views.mentions import mention_list, mentions_read
from analysis.views.retention import retention
from analysis.views.run_compare import run_compare
from analysis.views.run_detail import (
    finding_near,
    run_changes,
    run_detail,
    run_findings,
    run_live,
    run_part,
)
from analysis.views.run_find import run_find
from analysis.views.run_keeping import run_keeping
from analysis.views.run_list import run_list
from analysis.views.run_selection import run_job, run_job_stop, run_selection
from analysis.views.saved_views import list_columns, view_change, view_save
from analysis.views.stop_reasons import stop_reasons
from analysis.views.ticket_erase import ticket_erase
from analysis.views.tools import tool_list

app_name = "analysis"
urlpatterns = [
    path("runs/", run_list, name="run_list"),
    path("runs/selected/", run_selection, name="run_selection"),
    path("runs/jobs/<int:pk>/", run_job, name="run_job"),
    path("runs/jobs/<int:pk>/cancel/", run_job_stop, name="run_job_stop"),
    path("runs/views/", view_save, name="view_save"),
    path("runs/views/<int:pk>/", view_change, name="view_change"),
    path("runs/columns/", list_columns, name="list_columns"),
    path("runs/<int:pk>/", run_detail, name="run_detail"),
    path("runs/<int:pk>/part/", run_part, name="run_part"),
    path("runs/<int:pk>/changes/", run_changes, name="run_changes"),
    path("runs/<int:pk>/findings/", run_findings, name="run_findings"),
    path("runs/<int:pk>/findings/near/", finding_near, name="finding_near"),
    path("runs/<int:pk>/live/", run_live, name="run_live"),
    path("runs/<int:pk>/find/", run_find, name="run_find"),
    path("runs/<int:pk>/annotate/", run_annotate, name="run_annotate"),
    path("runs/<int:pk>/annotations/", annotation_list, name="annotation_list"),
    path("runs/<int:pk>/rounds/<int:number>/test/", call_test, name="call_test"),
    path("runs/<int:pk>/compare/", run_compare, name="run_compare"),
    path("annotations/<int:pk>/edit/", annotation_change, name="annotation_change"),
    path("annotations/<int:pk>/remove/", annotation_gone, name="annotation_gone"),
    path("tools/", tool_list, name="tool_list"),
    path("insights/", insights, name="insights"),
    path("live/", live_list, name="live_list"),
    path("incidents/<int:number>/annotate/", incident_annotate, name="incident_annotate"),
    path("mentions/", mention_list, name="mention_list"),
    path("mentions/read/", mentions_read, name="mentions_read"),
    path("runs/<int:pk>/case/", case_make, name="case_make"),
    path("cases/", case_list, name="case_list"),
    path("cases/suite/", case_suite, name="case_suite"),
    path("cases/upload/", case_upload, name="case_upload"),
    path("cases/<int:number>/", case_detail, name="case_detail"),
    path("cases/<int:number>/edit/", case_edit, name="case_edit"),
    path("cases/<int:number>/file/", case_file, name="case_file"),
    path("cases/<int:number>/accept/", case_accept, name="case_accept"),
    path("cases/<int:number>/delete/", case_delete, name="case_delete"),
    path("cases/<int:number>/resolve/", case_resolve, name="case_resolve"),
    path("cases/<int:number>/history/", case_history, name="case_history"),
    path("cases/<int:number>/history/<int:revision>/", case_return, name="case_return"),
    path("cases/<int:number>/replays/<int:pk>/", case_replay, name="case_replay"),
    path(
        "cases/<int:number>/replays/<int:pk>/<str:side>/<int:round>/",
        case_replay_text,
        name="case_replay_text",
    ),
    path("queue/", hand_off_list, name="hand_off_list"),
    path("queue/<int:pk>/", hand_off_change, name="hand_off_change"),
    path("incidents/", incident_list, name="incident_list"),
    path("incidents/change/", incidents_change, name="incidents_change"),
    path("incidents/<int:number>/", incident_detail, name="incident_detail"),
    path("incidents/<int:number>/change/", incident_change, name="incident_change"),
    path("incidents/<int:number>/events/", incident_events, name="incident_events"),
    path("runs/<int:pk>/keeping/", run_keeping, name="run_keeping"),
    path("settings/retention/", retention, name="retention"),
    path("settings/retention/erase/", ticket_erase, name="ticket_erase"),
    path("detectors/", detector_list, name="detector_list"),
    path("detectors/<slug:name>/", detector_detail, name="detector_detail"),
    path("stop-reasons/", stop_reasons, name="stop_reasons"),
    path("settings/limits/", limits, name="limits"),
    path("settings/limits/file/", limits_file, name="limits_file"),
    path("settings/masking/", masking, name="masking"),
    path("settings/masking/again/", runs_mask_again, name="runs_mask_again"),
    path("settings/masking/rule/", mask_rule, name="mask_rule"),
    path("settings/masking/rule/<int:pk>/remove/", mask_rule_delete, name="mask_rule_delete"),
    path("settings/masking/no-secrets/", not_secret_list, name="not_secret_list"),
    path(
        "settings/masking/no-secrets/<int:pk>/remove/",
        not_secret_delete,
        name="not_secret_delete",
    ),
    path("settings/alerts/", alerts, name="alerts"),
    path("settings/alerts/channels/<int:pk>/", alert_channel_change, name="alert_channel_change"),
    path("settings/alerts/rules/<int:pk>/", alert_rule_remove, name="alert_rule_remove"),
    path("settings/alerts/messages/<uuid:pk>/", alert_message_change, name="alert_message_change"),
    path("send/examples/", examples_load, name="examples_load"),
    path("settings/examples/remove/", examples_gone, name="examples_gone"),
    path("settings/read-again/", runs_read_again, name="runs_read_again"),
    path("settings/jobs/<int:pk>/", job_detail, name="job_detail"),
    path("settings/jobs/<int:pk>/cancel/", job_stop, name="job_stop"),
]
