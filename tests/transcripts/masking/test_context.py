from __future__ import annotations

import pytest

from tests.transcripts.masking.builders import GITHUB, PASSWORD, found

SECRETS = [
    ("export API_TOKEN='q8Zt4kP0sLw2VbYx'", "q8Zt4kP0sLw2VbYx"),
    ("DB_PASSWORD=Win,ter;2026&x\nDB_PORT=5432", "Win,ter;2026&x"),
    ("smtp:\n  user: mailer\n  password: Win ter\n", None),
    ("smtp:\n  user: mailer\n  password: Orchid.4417\n  port: 587", PASSWORD),
    ("set_password(user='jdoe', password='Orchid 4417!')", "Orchid 4417!"),
    ("Server=sql1;User ID=sa;Password=a&b=c#1;Encrypt=True", "a&b=c#1"),
    ("GET /x?access_token=q8Zt4kP0sLw2VbYx&page=2", "q8Zt4kP0sLw2VbYx"),
    ("config['client_secret'] = \"q8Zt4kP0sLw2VbYx\"", "q8Zt4kP0sLw2VbYx"),
    ("x-api-key: q8Zt4kP0sLw2VbYx\nAccept: */*", "q8Zt4kP0sLw2VbYx"),
    ("New-ADUser -AccountPassword 'Orchid.4417' -Name jdoe", PASSWORD),
    ("login --password Orchid.4417 --tenant acme", PASSWORD),
    ("redis://:Orchid.4417@redis:6379/0", PASSWORD),
    ("Cookie: theme=dark; sessionid=k2jd83hs72kd9f; lang=de", "k2jd83hs72kd9f"),
    ("| user | password |\n|---|---|\n| jdoe | Orchid.4417 |\n", PASSWORD),
    ("<add key='SmtpPassword' value='Orchid.4417' />", PASSWORD),
    ("the value of client_secret is q8Zt4kP0sLw2VbYx ok", "q8Zt4kP0sLw2VbYx"),
    ('{"password": "Secret-Garden7"}', "Secret-Garden7"),
    ('{"password": "my.secret.99"}', "my.secret.99"),
    ('{"password": "Rocket2020?"}', "Rocket2020?"),
    ('{"password": "*dMUl1$xB!q5"}', "*dMUl1$xB!q5"),
    ("password=$summer2024", "$summer2024"),
    ("The password is $summer2024", "$summer2024"),
    ("username=jdoe&password=osIBGBdDlQcD&remember=1", "osIBGBdDlQcD"),
    ("data:\n  password: UEBaQjBXUzUy\ntype: Opaque", "UEBaQjBXUzUy"),
    (f"see <code>{GITHUB}</code>", GITHUB),
    (f"I rotated it, new one is {GITHUB}.", GITHUB),
    (f"?t={GITHUB}&x=1", GITHUB),
    ('{"password": "Charlie-2024"}', "Charlie-2024"),
    ("postgres://app:cHAR5wGhURHdLx7-q@db.contoso.example/x", "cHAR5wGhURHdLx7-q"),
]


@pytest.mark.parametrize(("text", "secret"), [pair for pair in SECRETS if pair[1]])
def test_the_value_and_only_the_value_is_masked(text, secret):
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [
        "password = request.form['password']",
        "token = get_token(user)",
        "self.api_key = api_key",
        "def login(password: str = None) -> Token:",
        "password: ${DB_PASSWORD}",
        "api_key: YOUR_API_KEY_HERE",
        "password varchar(64) NOT NULL, password: varchar(64), pin: char",
        "password=********",
        '{"password": null, "token": ""}',
        "token_count: 1532, max_tokens: 4096",
        '{"token": " the", "logprob": -0.1}',
        "primary_key = user_id_1182",
        "next_token=eyK3nextPage0001",
        "session_timeout=3600",
        "password_last_set=2026-10-02",
        "secret=os.environ['SECRET']",
        "<passwordPolicy>Strong14</passwordPolicy>",
        "run_id=vpn-20931 round=40 ticket=INC0044812",
        "id=4f9d2c1e-8b7a-4c3d-9e2f-1a2b3c4d5e6f",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "call_9Xk2LmQ8rT1vW4yZ7bN3cD5f toolu_01A2b3C4d5E6f7G8h9J0kLmN",
        '{"signature": "EsMCCkYICxgCKkDuNR00D0SPshrOAOM1rE2RNrkHn0aXuAp7lW1sP8HECP"}',
        "https://portal.example.com:8443/password/reset?step=2",
        "zip code is 78260",
        "EAN 4290568870102 qty 6",
        "    username: Optional[str]\n    password: Optional[str]\n",
        "PASS: ld-elf/pr13839a\nPASS: test_login-2 (0.3s)\n",
        "$PASSWORD = $Config::Settings->{password};",
        '<input type="submit" name="set-password" value="Save">',
        "use constant ZIP_SIG => 0x04034b50;",
        "see https://fuzz.example/detail/5390364397928448",
        "fixes a credential leak (CVE-2024-50349)",
        "HOME=/root\nPWD=/home/user1/repo2\nOLDPWD=/testbed/a1\n",
        "if password != password2: raise ValidationError",
        "arn:aws:secretsmanager:eu-west-1:123456789012:secret:prod/db-AbCdEf",
    ],
)
def test_look_alikes_stay(text):
    assert found(text) == []
