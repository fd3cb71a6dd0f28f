"""Ordinary words that are also nicks somewhere: inside a message they are words, not the name of a person.

A nick from this list counts as addressed only as the first token with ``:`` or ``,`` after it. Written for this project.
"""

_WORDS = """
a about above access actually add after again against ago all almost alone alot already alsa also although always am amd an and another
answer any anybody anymore anyone anything anyway anyways apache app apps apt are around as ask asked at audio away awesome back bad bash be
because been beep before being best beta better between big bit black blah blue boot both box boy brb break broken browser btw bug bugs
build burn but button by bye cable call came can cant card case cat cause cd center change chat check chris clear click client close code
cold come command compile config console cool copy could couple course crap crash cron cube cups current cut daemon damn dang dark data date
day days dead debian default delete dell desktop dev did died diff different dir disk do does doesnt doing done dont down download drive
driver drivers dude dump dvd each easy edgy edit either else email empty end enough error etc even ever every everyone everything evil
exactly except exit explain fail far fast fat feel feisty few file files find fine firefox firewall first fix flash folder font for forget
format forum found free freeze friend from full fun game games gave get gets getting girl give gives gnome go god goes going gone good
google got grep grub guess gui guy guys had haha hang happy hard hardy has hate have having he head hell hello help helper her here hes hey
hi him his hit hm hmm hoary hold home hope host hot hour how however http huge i icon id idea ie if ill im image in info init input install
installed installer instead intel internet into intrepid ip irc is isnt iso issue it its jaunty java join just karmic kde keep kernel key
keyboard kick kill kind know kubuntu lamp lan laptop last later latest learn least left less let level lib light like line link linux list
little live load local lock log login lol long look looking looks lost lot love low lucid mac machine mail main make makes man manual many
map master matter max may maybe me mean media member memory menu message might mine mint mirror miss mode modem module moment mount mouse
move movie mp much music must mute my myself name need needs net network never new news next nice night no nobody none noob nope normal not
note nothing now null number nvidia of off office ok okay old on once one online only oops open or order original other our out over own
package page panel part partition party pass password paste path pc people perfect perhaps perl phone php pick ping pipe place play player
please pls plus point port possible post power press print printer prob probably problem process program project proxy public put python
query question questions quick quit quite radio ram rather raw read ready real really reason reboot red release remote remove repo reset
rest restart right root router run running safe said samba same save saw say says screen script search second see seem seems seen sense
server set settings setup she shell short should show shut simple simply since site size skip sleep slow small smart so software some
somebody someone something sometimes soon sorry sort sound source space spam speed ssh stable star start stick still stop strange string
stuff stupid such sucks sudo super support sure swap switch system tab take talk tar task tell term terminal test text than thank thanks
that thats the their them then there these they thing things think this those though thought through time times tip tips to today together
told tomorrow tonight too took tool top topic total tree tried true try trying turn tux tv two type ubunto ubuntu under unix unknown until
up update upgrade us usb use used user users using usually vi video view virus vista vnc wait want warning warty was watch way we web week
weird welcome well went were what whatever wheel when where which while white who whole why wifi wiki will win window windows wine wireless
wish with without wlan word work worked working works world worse wow write wrong xorg xubuntu yahoo yay yea yeah year yep yes yesterday yet
you young your youre yourself zero
"""

COMMON = frozenset(_WORDS.split())

_PACKAGES = """
abiword acpi alacarte alsa alsamixer amarok amule anjuta apmd aptitude ardour aspell audacity automatix avahi avidemux awn azureus bacula
banshee bashrc beagle beryl bind bittorrent blender bluez brasero busybox calibre checkinstall chkrootkit chromium clamav cmake compiz conky
cups curl cvs deluge devede dhcp dhcpcd dia django docker dosbox dovecot dpkg eclipse ekiga emacs emerald empathy envy epiphany evince
evolution exim fail2ban fglrx filezilla firestarter fluxbox gaim galeon gambas gcc gdb gdm gedit gimp git gksudo glade gnash gnomebaker
gnucash gparted gpg grip grub2 gstreamer gthumb hplip htop icecast inkscape iptables irssi jack java jedit k3b kaffeine kate kdevelop kdm
kile kino kmail knoppix konqueror konsole kopete kpdf krita ktorrent kvm lirc lynx madwifi mc mencoder metacity miro mldonkey mono mplayer
mutt mysql nano nautilus ncurses ndiswrapper netbeans nginx nmap nouveau ntp ogle openbox openoffice openssh openvpn opera pan parted perl
phpmyadmin pidgin postfix postgres postgresql pulse pulseaudio python qemu quanta rdesktop rhythmbox rsync ruby samba sane screenlets
scribus sed skype smplayer snort songbird sqlite squid streamtuner subversion svn swat swftools synaptic syslog thunar thunderbird tightvnc
tomboy totem transmission usplash vim vino virtualbox vlc vmware vsftpd webmin wget wicd wireshark wvdial xchat xine xmms xorg xsane xterm
xubuntu xvidcap yelp zsh
"""

PACKAGES = frozenset(_PACKAGES.split())
"""Names of programs that are nicks somewhere: inside a message they are programs, unless their namesake takes part in the conversation."""
