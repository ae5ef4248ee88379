"""One settings file; everything that differs between machines comes from the environment."""

from csp.constants import NONE, SELF

from agentdesk import logs
from agentdesk.environment import ROOT, Environment, state_folder

env = Environment()

BASE_DIR = ROOT
SECRET_KEY = env.secret("SECRET_KEY", least=32)
DEBUG = False
ALLOWED_HOSTS = env.names("AGENTDESK_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.names("AGENTDESK_ORIGINS")
ROOT_URLCONF = "agentdesk.urls"
WSGI_APPLICATION = "agentdesk.wsgi.application"

# What Agentdesk itself reads.

# The runs that come with it, to try things on.
EXAMPLES = BASE_DIR / "agentdesk" / "example"
# 32 bytes each; sealing, masking and digests derive their own keys from them. The first is in use.
AGENTDESK_MASTER_KEYS = env.keys("AGENTDESK_MASTER_KEYS")
# The largest request, as it comes over the wire and after decompression.
AGENTDESK_MAX_BODY_BYTES = env.number("AGENTDESK_MAX_BODY_BYTES", 32 * 2**20, least=1024)
AGENTDESK_MAX_EXPANDED_BYTES = env.number("AGENTDESK_MAX_EXPANDED_BYTES", 256 * 2**20, least=1024)
# A delivery that takes longer counts as failed, and goes to quarantine after a few attempts.
AGENTDESK_TASK_SECONDS = env.number("AGENTDESK_TASK_SECONDS", 300, least=1)
AGENTDESK_SWEEP_SECONDS = env.number("AGENTDESK_SWEEP_SECONDS", 10, least=1)
# A live run to which nothing came for so long counts as over; a project's limits may say otherwise.
AGENTDESK_RUN_IDLE_SECONDS = env.number("AGENTDESK_RUN_IDLE_SECONDS", 3600, least=1)
# A trace to which no span came for so long is over, and later its spans are deleted.
AGENTDESK_TRACE_IDLE_SECONDS = env.number("AGENTDESK_TRACE_IDLE_SECONDS", 300, least=1)
AGENTDESK_TRACE_KEEP_SECONDS = env.number("AGENTDESK_TRACE_KEEP_SECONDS", 3600, least=60)
# Proxies of one's own in front, each of which adds the client's address to X-Forwarded-For.
AGENTDESK_PROXIES = env.number("AGENTDESK_PROXIES", 0)
AGENTDESK_KEY_REQUESTS_PER_MINUTE = env.number("AGENTDESK_KEY_REQUESTS_PER_MINUTE", 12_000, least=1)
# Networks of one's own that webhooks may reach; all others must be public ones.
AGENTDESK_OUTGOING_NETWORKS = env.networks("AGENTDESK_OUTGOING_NETWORKS")
AGENTDESK_ALIVE_FILE = env.text("AGENTDESK_ALIVE_FILE", "")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "csp",
    "django_htmx",
    "ninja",
    "template_partials",
    # Not "allauth" itself: its own pages would stand in where one of ours is missing.
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.usersessions",
    "agentdesk",
    "transcripts",
    "analysis",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "agentdesk.browser_rights.BrowserRights",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "transcripts.sign_in.session_limits.SessionLimits",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "agentdesk.zone.ZoneMiddleware",
]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "transcripts.pages.shell",
            ]
        },
    }
]

DATABASES = {
    "default": env.database("DATABASE_URL", pool_size=env.number("AGENTDESK_DB_POOL_SIZE", 0))
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# People

AUTH_USER_MODEL = "transcripts.User"
AUTHENTICATION_BACKENDS = ["transcripts.sign_in.passwords.PasswordBackend"]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = ACCOUNT_LOGOUT_REDIRECT_URL = "account_login"
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
_VALIDATION = "django.contrib.auth.password_validation"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"{_VALIDATION}.UserAttributeSimilarityValidator"},
    {"NAME": f"{_VALIDATION}.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": f"{_VALIDATION}.CommonPasswordValidator"},
    {
        "NAME": "transcripts.sign_in.breached.BreachedPasswordValidator",
        "OPTIONS": {"path": env.file("AGENTDESK_BREACHED_PASSWORDS")},
    },
]
# What sign-in keeps for a while: codes that were used. Postgres, since all web processes share it
# and nobody signs in without it.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "sign_in_cache",
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    # Names of agents and tools, which must not outlive their runs in a table.
    "memory": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}
SESSION_ENGINE = "transcripts.sign_in.sealed_sessions"
SESSION_COOKIE_NAME = "agentdesk_session"
# A session ends so long after signing in, and when nothing was asked for so long.
SESSION_COOKIE_AGE = 60 * 60 * env.number("AGENTDESK_SESSION_HOURS", 24 * 7, least=1)
AGENTDESK_IDLE_SECONDS = 60 * env.number("AGENTDESK_SESSION_IDLE_MINUTES", 24 * 60, least=1)
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_NAME = "agentdesk_csrf"
CSRF_COOKIE_SAMESITE = "Lax"

# Failed sign-ins of one account (and four times as many from one address) that cost no delay; then
# the delay doubles with each, from the first to the longest.
AGENTDESK_SIGN_IN_TRIES = env.number("AGENTDESK_SIGN_IN_TRIES", 5, least=1)
AGENTDESK_SIGN_IN_FIRST_DELAY_SECONDS = 2
AGENTDESK_SIGN_IN_LONGEST_DELAY_SECONDS = env.number(
    "AGENTDESK_SIGN_IN_LONGEST_DELAY_SECONDS", 900, least=1
)
# Whether every person needs a second factor; a project can ask for it by itself.
AGENTDESK_REQUIRE_SECOND_FACTOR = env.flag("AGENTDESK_REQUIRE_SECOND_FACTOR", False)
AGENTDESK_INVITATION_DAYS = env.number("AGENTDESK_INVITATION_DAYS", 7, least=1)

# django-allauth. Delays of our own stand in for its rate limits, which neither grow nor tell a
# known browser from a stranger's.
ACCOUNT_ADAPTER = "transcripts.sign_in.adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_NOTIFICATIONS = False
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = False
ACCOUNT_LOGIN_ON_PASSWORD_RESET = True
ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR = "django.contrib.auth.tokens.PasswordResetTokenGenerator"
ACCOUNT_RATE_LIMITS = False
# Not by a mailed code, which it offers to who came by a provider: its page is not here.
ACCOUNT_REAUTHENTICATION_METHODS = ("password", "mfa")
ACCOUNT_FORMS = {
    "login": "transcripts.sign_in.forms.SignInForm",
    "change_password": "transcripts.sign_in.forms.ChangeForm",
}
MFA_ADAPTER = "transcripts.sign_in.adapters.SecondFactorAdapter"
MFA_TOTP_ISSUER = "Agentdesk"
# Clocks of telephones go wrong: the code before and the one after count too, each once.
MFA_TOTP_TOLERANCE = 1
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_FORMS = {
    "authenticate": "transcripts.sign_in.forms.CodeForm",
    "reauthenticate": "transcripts.sign_in.forms.CodeAgainForm",
    "activate_totp": "transcripts.sign_in.forms.FirstCodeForm",
    "deactivate_totp": "transcripts.sign_in.forms.TurnOffForm",
}
USERSESSIONS_ADAPTER = "transcripts.sign_in.told.SessionsAdapter"

# Single sign-on by OpenID Connect: on when an issuer is named.

AGENTDESK_OIDC_ISSUER = env.text("AGENTDESK_OIDC_ISSUER", "")
AGENTDESK_OIDC_DOMAINS = [name.lower() for name in env.names("AGENTDESK_OIDC_DOMAINS")]
AGENTDESK_OIDC_INVITED_ONLY = env.flag("AGENTDESK_OIDC_INVITED_ONLY", True)
SOCIALACCOUNT_ADAPTER = "transcripts.single_sign_on.adapter.SingleSignOnAdapter"
SOCIALACCOUNT_LOGIN_ON_GET = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION = True
SOCIALACCOUNT_EMAIL_AUTHENTICATION_AUTO_CONNECT = True
SOCIALACCOUNT_PROVIDERS = {
    "single_sign_on": {
        "OAUTH_PKCE_ENABLED": True,
        "APPS": env.single_sign_on("AGENTDESK_OIDC_ISSUER"),
    }
}

# Mail, for invitations and forgotten passwords. Without a server links are shown to administrators.

# What links in mail begin with.
AGENTDESK_URL = env.text(
    "AGENTDESK_URL", next(iter(CSRF_TRUSTED_ORIGINS), "http://localhost:8700")
).rstrip("/")
_MAIL = env.mail_server("AGENTDESK_SMTP_URL")
AGENTDESK_SENDS_MAIL = bool(_MAIL)
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if _MAIL else 'dummy'}.EmailBackend"
EMAIL_HOST, EMAIL_PORT = _MAIL.get("host", ""), _MAIL.get("port", 0)
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL.get("user", ""), _MAIL.get("password", "")
EMAIL_USE_TLS, EMAIL_USE_SSL = _MAIL.get("starttls", False), _MAIL.get("tls", False)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("AGENTDESK_MAIL_FROM", "Agentdesk <agentdesk@localhost>")

# What browsers are told. AGENTDESK_HTTPS says that people come by https, here or through a proxy.

_HTTPS = env.flag("AGENTDESK_HTTPS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = _HTTPS
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 * _HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if _HTTPS else None
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "object-src": [NONE],
    }
}

# What comes in stays in memory until it is sealed: a temporary file would be unmasked on disk.

DATA_UPLOAD_MAX_MEMORY_SIZE = AGENTDESK_MAX_BODY_BYTES
FILE_UPLOAD_MAX_MEMORY_SIZE = AGENTDESK_MAX_BODY_BYTES
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.MemoryFileUploadHandler"]

# Static files

STATIC_URL = "static/"
STATIC_ROOT = env.text("AGENTDESK_STATIC_ROOT", str(state_folder() / "static"))
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Language and time

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

LOGGING = logs.configure(
    kind=env.choice("AGENTDESK_LOG", "console", among=("console", "json")),
    level=env.choice("AGENTDESK_LOG_LEVEL", "INFO", among=("DEBUG", "INFO", "WARNING", "ERROR")),
)

# The queue carries ids only, and may be lost: what is to be done stands in Postgres.

CELERY_BROKER_URL = env.redis("REDIS_URL")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Above the longest task, or a second worker is handed what the first still works on.
    "visibility_timeout": 2 * AGENTDESK_TASK_SECONDS,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 2,
    "socket_timeout": 4,
    "socket_keepalive": True,
    # For whoever publishes; the worker goes by BROKER_CONNECTION_MAX_RETRIES.
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.2,
}
CELERY_TASK_PUBLISH_RETRY = True
CELERY_TASK_PUBLISH_RETRY_POLICY = {
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.2,
    "interval_max": 0.2,
}
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_STORE_ERRORS_EVEN_IF_IGNORED = False
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = AGENTDESK_TASK_SECONDS + 10
CELERY_TASK_SOFT_TIME_LIMIT = AGENTDESK_TASK_SECONDS
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 500
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BEAT_SCHEDULE = {
    "pick up what was left behind": {
        "task": "agentdesk.tasks.sweep",
        "schedule": AGENTDESK_SWEEP_SECONDS,
        "options": {"expires": 2 * AGENTDESK_SWEEP_SECONDS},
    },
    "end runs that went quiet": {
        "task": "agentdesk.tasks.close_quiet",
        "schedule": 30,
        "options": {"expires": 60},
    },
    "index old runs for search": {
        "task": "agentdesk.tasks.index_texts",
        "schedule": 5,
        "options": {"expires": 5},
    },
    "group old runs": {
        "task": "agentdesk.tasks.group_runs",
        "schedule": 15,
        "options": {"expires": 15},
    },
    "age incidents": {
        "task": "agentdesk.tasks.age_incidents",
        "schedule": 60,
        "options": {"expires": 60},
    },
    "remove what is past its days": {
        "task": "agentdesk.tasks.retention",
        "schedule": 300,
        "options": {"expires": 300},
    },
    "delete sessions that are over": {
        "task": "agentdesk.tasks.sessions_tidy",
        "schedule": 6 * 3600,
        "options": {"expires": 3600},
    },
    "look for what alerts tell": {
        "task": "agentdesk.tasks.alerts_look",
        "schedule": 60,
        "options": {"expires": 60},
    },
    "learn what is normal": {
        "task": "agentdesk.tasks.learn",
        "schedule": 300,
        "options": {"expires": 300},
    },
}
# Each sweep touches the schedule file, which is what a container's health check looks at.
CELERY_BEAT_SYNC_EVERY = 1
