from django.db import migrations

REFUSE = """
CREATE FUNCTION transcripts_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only: % refused', TG_OP
        USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER access_entry_append_only
    BEFORE UPDATE OR DELETE ON transcripts_accessentry
    FOR EACH ROW EXECUTE FUNCTION transcripts_refuse_change();
CREATE TRIGGER access_entry_not_truncated
    BEFORE TRUNCATE ON transcripts_accessentry
    FOR EACH STATEMENT EXECUTE FUNCTION transcripts_refuse_change();
"""
ALLOW = """
DROP TRIGGER access_entry_not_truncated ON transcripts_accessentry;
DROP TRIGGER access_entry_append_only ON transcripts_accessentry;
DROP FUNCTION transcripts_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("transcripts", "0001_initial")]

    operations = [migrations.RunSQL(REFUSE, ALLOW)]
