"""The WSGI application, as granian loads it."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdesk.settings")

application = get_wsgi_application()
