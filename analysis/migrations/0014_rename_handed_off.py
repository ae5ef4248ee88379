"""Call it "handed off" in what is kept of findings, as everywhere else."""

from django.db import migrations

RENAME = """
UPDATE analysis_finding
SET "values" = ("values" - '{old}') || jsonb_build_object('{new}', "values" -> '{old}')
WHERE jsonb_exists("values", '{old}')
"""


class Migration(migrations.Migration):
    dependencies = [("analysis", "0013_mask_names_of_limits")]

    operations = [
        migrations.RunSQL(
            RENAME.format(old="handed_over", new="handed_off"),
            RENAME.format(old="handed_off", new="handed_over"),
        ),
    ]
