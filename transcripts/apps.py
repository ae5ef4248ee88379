from importlib import import_module

from django.apps import AppConfig


class TranscriptsConfig(AppConfig):
    name = "transcripts"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        # Its receivers write the audit lines of signing in.
        import_module("transcripts.sign_in.told")
