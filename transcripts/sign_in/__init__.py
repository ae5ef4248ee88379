"""Signing in: passwords, second factors, delays, sessions. django-allauth carries the flow; here is
what is our own in it.
"""
