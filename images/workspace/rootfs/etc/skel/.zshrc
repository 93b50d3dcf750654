# Read by every interactive zsh. It is yours: change what you like.

HISTFILE=~/.zsh_history
HISTSIZE=10000
SAVEHIST=50000
setopt append_history hist_ignore_dups hist_ignore_space prompt_subst
bindkey -e

autoload -Uz compinit vcs_info
compinit
zstyle ':vcs_info:git:*' formats ' (%b)'
precmd() { vcs_info; }
PROMPT='%(?.%B%F{green}.%B%F{red})%n@%m%f%b:%B%F{blue}%~%f%b%F{yellow}${vcs_info_msg_0_}%f%# '

alias ls='ls --color=auto'
alias ll='ls -lh'
alias la='ls -lhA'
alias grep='grep --color=auto'
