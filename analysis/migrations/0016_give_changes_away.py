"""Changes that can be taken back are kept by `transcripts` now, as members and keys are changed
too. Those of the last day go along.
"""

from django.db import migrations

COLUMNS = "id, kind, before, at, undone_at, project_id, user_id"
COPY = "INSERT INTO {to} (" + COLUMNS + ") SELECT " + COLUMNS + " FROM {source}"
GO_ON = (
    "SELECT setval(pg_get_serial_sequence('{to}', 'id'),"
    " coalesce((SELECT max(id) FROM {to}), 0) + 1, false)"
)
HERE, THERE = "analysis_change", "transcripts_change"


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0015_find_findings_by_tool"),
        ("transcripts", "0018_keep_changes"),
    ]

    operations = [
        migrations.RunSQL(
            [COPY.format(to=THERE, source=HERE), GO_ON.format(to=THERE)],
            [
                COPY.format(to=HERE, source=THERE),
                GO_ON.format(to=HERE),
                f"DELETE FROM {THERE}",
            ],
        ),
        migrations.DeleteModel(name="Change"),
    ]
