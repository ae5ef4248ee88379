"""One settings file; everything that differs between machines comes from the environment."""

import os
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent

SECRET_KEY = os.environ.get("SECRET_KEY", "")
DEBUG = False
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "agentdesk.urls"
AUTH_USER_MODEL = "transcripts.User"
INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "template_partials",
    "agentdesk",
    "transcripts",
    "analysis",
]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "agentdesk",
        "USER": "agentdesk",
        "HOST": "127.0.0.1",
        "PORT": os.environ.get("PGPORT", "5499"),
    }
}
USE_TZ = True
