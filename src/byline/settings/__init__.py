"""Settings of a single ensemble member, and pools of members with the built-in presets."""
