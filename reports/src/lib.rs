//! Turns run events into console, JSON lines, CSV and other reports.
