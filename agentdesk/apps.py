from django.apps import AppConfig


class AgentdeskConfig(AppConfig):
    name = "agentdesk"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agentdesk.celery import app

        app.set_default()
