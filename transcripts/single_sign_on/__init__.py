"""Signing in by an OpenID Connect provider of one's own (Keycloak, Entra, Okta, Google …).

django-allauth carries the code flow with state and PKCE. On top of it everything that the provider
says is checked: that it is the configured issuer, the signature, audience, time and nonce of the
id token, and that the e-mail address is a verified one of an allowed domain.
"""
