#!/bin/sh
# What a Hunch.app that cannot start says, in a window, in the first of the user's languages that Hunch speaks:
# alert.sh NAME, a line of Alerts.txt. It lies in the app's Resources; to stderr it says the same.
language=en
for each in $(/usr/bin/defaults read -g AppleLanguages 2>/dev/null | tr -d '(),"'); do
    case $each in
        ko*) language=ko ;;
        ja*) language=ja ;;
        zh*) language=zh-Hans ;;
        en*) language=en ;;
        *) continue ;;
    esac
    break
done
IFS='|' read -r title sentence <<END
$(sed -n "s/^$1|//p" "$(dirname "$0")/$language.lproj/Alerts.txt")
END
echo "$title: $sentence" >&2
exec /usr/bin/osascript -e 'on run argv' -e 'try' -e 'tell me to activate' -e 'end try' \
    -e 'display alert (item 1 of argv) message (item 2 of argv) as critical' -e 'end run' "$title" "$sentence"
