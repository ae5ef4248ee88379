"""The WSGI application, as granian loads it."""

import gc
import os

from django.core.wsgi import get_wsgi_application
from django.urls import reverse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdesk.settings")

application = get_wsgi_application()

# All views are read now, not with the first request. What is loaded then stays for good: a full
# collection would look through all of it again, and make whoever asks just then wait a tenth of a
# second.
reverse("home")
gc.collect()
gc.freeze()
