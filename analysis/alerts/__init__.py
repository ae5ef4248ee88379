"""Alerts: rules write messages with what they tell, and workers send them."""
