"""The independent evaluation of the detector suite: clean runs, broken runs, a table of finds.

It shares no code and no texts with `analysis.detectors`, so that a rule cannot pass by knowing its
test.
"""
