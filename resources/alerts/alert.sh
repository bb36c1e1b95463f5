#!/bin/sh
# What a Hunch.app that cannot start says, in a window, in the first of the user's languages that Hunch speaks:
# alert.sh NAME [STATUS], NAME being a line of Alerts.txt: `gone`, `damaged`, or `ended` with an exit status, which is
# `silent` where no report was written just now. It lies in the app's Resources; to stderr it says the same.
name=$1
report=$HOME/Library/Logs/Hunch/crash.log
if [ "$name" = ended ] && [ -z "$(find "$report" -mmin -2 -size +0 2>/dev/null)" ]; then name=silent; fi
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
$(sed -n "s/^$name|//p" "$(dirname "$0")/$language.lproj/Alerts.txt" | sed "s/%1/$2/")
END
echo "$title: $sentence" >&2
exec /usr/bin/osascript -e 'on run argv' -e 'try' -e 'tell me to activate' -e 'end try' \
    -e 'display alert (item 1 of argv) message (item 2 of argv) as critical' -e 'end run' "$title" "$sentence"
