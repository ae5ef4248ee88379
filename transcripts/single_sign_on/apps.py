from django.apps import AppConfig


class SingleSignOnConfig(AppConfig):
    name = "transcripts.single_sign_on"
    label = "single_sign_on"
