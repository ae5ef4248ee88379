"""The embedded services of `./desk up` and `./desk test`: Postgres, Valkey and a supervisor."""
