"""When a person has read where they are mentioned. The table of mentions is there, and gets a column;
what was written more than a week ago counts as read.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

OLD_ARE_READ = """
UPDATE analysis_annotation_mentions m SET read_at = now()
FROM analysis_annotation a
WHERE a.id = m.annotation_id AND a.created_at < now() - interval '7 days'
"""


class Migration(migrations.Migration):
    dependencies = [
        ("analysis", "0021_index_alerts"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="Mention",
                    fields=[
                        (
                            "id",
                            models.BigAutoField(
                                auto_created=True,
                                primary_key=True,
                                serialize=False,
                                verbose_name="ID",
                            ),
                        ),
                        (
                            "annotation",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                to="analysis.annotation",
                            ),
                        ),
                        (
                            "user",
                            models.ForeignKey(
                                on_delete=django.db.models.deletion.CASCADE,
                                to=settings.AUTH_USER_MODEL,
                            ),
                        ),
                    ],
                    options={
                        "ordering": ("annotation", "user"),
                        "db_table": "analysis_annotation_mentions",
                        "unique_together": {("annotation", "user")},
                    },
                ),
                migrations.AlterField(
                    model_name="annotation",
                    name="mentions",
                    field=models.ManyToManyField(
                        blank=True,
                        related_name="mentioned_in",
                        through="analysis.Mention",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="mention",
            name="read_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddIndex(
            model_name="mention",
            index=models.Index(
                condition=models.Q(("read_at", None)), fields=["user"], name="mention_unread"
            ),
        ),
        migrations.RunSQL(OLD_ARE_READ, migrations.RunSQL.noop),
    ]
