"""Which way of grouping a run was put into incidents by: runs that are there already by none. What
is behind is caught up with by a beat, and is found by an index.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    # Runs go on coming in while the index is made.
    atomic = False

    dependencies = [("analysis", "0019_note_what_jobs_change")]

    operations = [
        migrations.AddField(
            model_name="verdict",
            name="grouping",
            field=models.PositiveSmallIntegerField(default=0),
        ),
        AddIndexConcurrently(
            model_name="verdict",
            index=models.Index(
                condition=models.Q(("flagged", True), ("grouping__lt", 2)),
                fields=["run"],
                name="verdict_behind",
            ),
        ),
    ]
