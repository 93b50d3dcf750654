# Environment of login shells in a workspace. Read by sh, bash and zsh alike.

if [ -d /opt/svc/bin ]; then
  PATH="/opt/svc/bin:$PATH"
fi

# Everybody but root installs programs into their home: `npm install -g`, `pip install --user`, `cargo install` …
if [ "$(id -u)" -ne 0 ]; then
  PATH="$HOME/.local/bin:$PATH"
  export NPM_CONFIG_PREFIX="$HOME/.local"
fi

# Debian keeps ifconfig and its like where only root looks.
PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"

export PATH
export LANG="${LANG:-en_US.UTF-8}"
export EDITOR="${EDITOR:-nano}"
export PAGER="${PAGER:-less}"
