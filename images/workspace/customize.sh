#!/bin/sh
# What the packages alone do not give. Runs as root inside the new file system, after rootfs/ was copied over it, for
# both ways to build the image, so that both give the same one.
set -eu

# The account of everybody in a workspace. Its home in passwd is the mount point; the agent sets HOME for each process.
groupadd --gid 1000 svc
useradd --uid 1000 --gid 1000 --home-dir /home --no-create-home --shell /bin/bash svc
chmod 0755 /home

# Debian ships these under other names, because two old packages had them first.
ln -sf /usr/bin/batcat /usr/local/bin/bat
ln -sf /usr/bin/fdfind /usr/local/bin/fd

ln -sf ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ln -sf ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx

echo 'en_US.UTF-8 UTF-8' > /etc/locale.gen
locale-gen > /dev/null
echo 'LANG=en_US.UTF-8' > /etc/default/locale

# File capabilities do not count in a user namespace, so ping gets its right from the file's owner. Nothing else but
# sudo, su and passwd may: fewer such files, fewer ways up.
setcap -r /usr/bin/ping 2> /dev/null || true
find / -xdev -type f -perm /6000 \
  ! -path /usr/bin/sudo ! -path /usr/bin/su ! -path /bin/su ! -path /usr/bin/passwd -exec chmod a-s {} +
chmod u+s /usr/bin/ping

# What belongs to one machine, and what can be fetched or made again.
rm -f /etc/machine-id /var/lib/dbus/machine-id /etc/ssh/ssh_host_*
rm -f /etc/apt/apt.conf.d/99mmdebstrap /etc/dpkg/dpkg.cfg.d/99mmdebstrap
rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb /var/cache/debconf/*-old
rm -rf /var/log/apt /var/log/dpkg.log /var/log/alternatives.log /var/log/bootstrap.log
rm -f /var/cache/ldconfig/aux-cache /etc/passwd- /etc/group- /etc/shadow- /etc/gshadow- /etc/subuid- /etc/subgid-

# The builder's own; an engine's build has them mounted, and leaves them out by itself.
rm -f /etc/hostname /etc/resolv.conf 2> /dev/null || true

# A map of 65536 ids is all a workspace has.
too_high=$(find / -xdev \( -uid +65535 -o -gid +65535 \) -print -quit)
if [ -n "$too_high" ]; then
  echo "$too_high belongs to an id above 65535, which no workspace has" >&2
  exit 1
fi
