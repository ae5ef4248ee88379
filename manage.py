#!/usr/bin/env python3
"""Django's command line for Agentdesk."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentdesk.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"{type(error).__name__}: {error}")
    except OperationalError as error:
        # An answer of the server has a state; without one there was no connection.
        if getattr(error.__cause__, "sqlstate", None):
            raise
        sys.exit(
            f"The database does not answer ({str(error).strip().splitlines()[0]}). "
            "./desk up starts one; DATABASE_URL names another."
        )


if __name__ == "__main__":
    main()
