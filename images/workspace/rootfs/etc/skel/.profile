# Read by login shells that are not bash, and by bash through .bash_profile where there is none.

if [ -n "$BASH_VERSION" ] && [ -f "$HOME/.bashrc" ]; then
  . "$HOME/.bashrc"
fi
