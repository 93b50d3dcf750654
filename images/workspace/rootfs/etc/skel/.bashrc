# Read by every interactive bash. It is yours: change what you like.

case $- in
  *i*) ;;
  *) return ;;
esac

HISTCONTROL=ignoreboth
HISTSIZE=10000
HISTFILESIZE=50000
# Several terminals add to one history instead of replacing it.
shopt -s histappend checkwinsize globstar

# The prompt: user@workspace:directory (git branch), red after a command that failed.
GIT_PS1_SHOWDIRTYSTATE=
if [ -r /usr/lib/git-core/git-sh-prompt ]; then
  . /usr/lib/git-core/git-sh-prompt
else
  __git_ps1() { :; }
fi
__svc_prompt() {
  local failed=$?
  local colour='1;32'
  [ "$failed" -eq 0 ] || colour='1;31'
  PS1="\[\e[${colour}m\]\u@\h\[\e[0m\]:\[\e[1;34m\]\w\[\e[0;33m\]\$(__git_ps1 ' (%s)')\[\e[0m\]\\$ "
}
PROMPT_COMMAND=__svc_prompt

eval "$(dircolors -b)"
alias ls='ls --color=auto'
alias ll='ls -lh'
alias la='ls -lhA'
alias grep='grep --color=auto'
alias diff='diff --color=auto'
alias ip='ip -color=auto'
export LESS=-R

if ! shopt -oq posix && [ -r /usr/share/bash-completion/bash_completion ]; then
  . /usr/share/bash-completion/bash_completion
fi
# Ctrl-R searches the history, Ctrl-T finds files.
if [ -r /usr/share/doc/fzf/examples/key-bindings.bash ]; then
  . /usr/share/doc/fzf/examples/key-bindings.bash
fi

if [ -r "$HOME/.bash_aliases" ]; then
  . "$HOME/.bash_aliases"
fi
