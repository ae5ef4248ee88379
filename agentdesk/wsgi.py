"""The WSGI application, as granian loads it."""

import gc
import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdesk.settings")

application = get_wsgi_application()

# What is loaded now stays for good. A full collection would look through all of it again, and make
# whoever asks just then wait a tenth of a second.
gc.collect()
gc.freeze()
