from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("transcripts", "0003_compress_with_lz4")]

    operations = [
        migrations.AddIndex(
            model_name="toolcall",
            index=models.Index(
                fields=["run", "round_number", "index"],
                name="call_unanswered",
                condition=models.Q(result=None),
            ),
        ),
    ]
