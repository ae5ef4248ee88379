"""Pages that show verdicts and findings, below `/p/<slug>/`."""

from django.urls import path

from analysis.views.run_detail import run_changes, run_detail, run_findings, run_live, run_part
from analysis.views.run_find import run_find
from analysis.views.run_list import run_list

app_name = "analysis"
urlpatterns = [
    path("runs/", run_list, name="run_list"),
    path("runs/<int:pk>/", run_detail, name="run_detail"),
    path("runs/<int:pk>/part/", run_part, name="run_part"),
    path("runs/<int:pk>/changes/", run_changes, name="run_changes"),
    path("runs/<int:pk>/findings/", run_findings, name="run_findings"),
    path("runs/<int:pk>/live/", run_live, name="run_live"),
    path("runs/<int:pk>/find/", run_find, name="run_find"),
]
