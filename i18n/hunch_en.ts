<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>AttachmentChip</name>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ChatList</name>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>%Ln chat</numerusform>
            <numerusform>%Ln chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln folder(s)</source>
        <translation>
            <numerusform>%Ln folder</numerusform>
            <numerusform>%Ln folders</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Export %Ln chat(s)…</source>
        <translation>
            <numerusform>Export %Ln chat…</numerusform>
            <numerusform>Export %Ln chats…</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>Delete %Ln chat</numerusform>
            <numerusform>Delete %Ln chats</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message numerus="yes">
        <source>%Ln token(s) too many.</source>
        <translation>
            <numerusform>%Ln token too many.</numerusform>
            <numerusform>%Ln tokens too many.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ContextRing</name>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>%Ln earlier message not read</numerusform>
            <numerusform>%Ln earlier messages not read</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) too many</source>
        <translation>
            <numerusform>%Ln token too many</numerusform>
            <numerusform>%Ln tokens too many</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DiscoverPanel</name>
    <message numerus="yes">
        <source>%Ln models; others may be missing.</source>
        <translation>
            <numerusform>%Ln model; others may be missing.</numerusform>
            <numerusform>%Ln models; others may be missing.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln models</source>
        <translation>
            <numerusform>%Ln model</numerusform>
            <numerusform>%Ln models</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message numerus="yes">
        <source>Export %Ln chat(s)</source>
        <translation>
            <numerusform>Export %Ln chat</numerusform>
            <numerusform>Export %Ln chats</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>GeneralPage</name>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln minute</numerusform>
            <numerusform>%Ln minutes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ImportDialog</name>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>%Ln chat</numerusform>
            <numerusform>%Ln chats</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>%Ln message</numerusform>
            <numerusform>%Ln messages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln new preset(s)</source>
        <translation>
            <numerusform>%Ln new preset</numerusform>
            <numerusform>%Ln new presets</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln already here</source>
        <comment>chats</comment>
        <translation>
            <numerusform>%Ln already here</numerusform>
            <numerusform>%Ln already here</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln unreadable</source>
        <comment>chats or files</comment>
        <translation>
            <numerusform>%Ln unreadable</numerusform>
            <numerusform>%Ln unreadable</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln picture(s) left out</source>
        <translation>
            <numerusform>%Ln picture left out</numerusform>
            <numerusform>%Ln pictures left out</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>KeptWords</name>
    <message numerus="yes">
        <source>%Ln chat(s) deleted.</source>
        <translation>
            <numerusform>%Ln chat deleted.</numerusform>
            <numerusform>%Ln chats deleted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s) deleted.</source>
        <translation>
            <numerusform>%Ln message deleted.</numerusform>
            <numerusform>%Ln messages deleted.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved out of folders.</source>
        <translation>
            <numerusform>%Ln chat moved out of folders.</numerusform>
            <numerusform>%Ln chats moved out of folders.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved to “%1”.</source>
        <translation>
            <numerusform>%Ln chat moved to “%1”.</numerusform>
            <numerusform>%Ln chats moved to “%1”.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LongChatMenu</name>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>%Ln earlier message not read</numerusform>
            <numerusform>%Ln earlier messages not read</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Still read: %Ln pinned message(s)</source>
        <translation>
            <numerusform>Still read: %Ln pinned message</numerusform>
            <numerusform>Still read: %Ln pinned messages</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message numerus="yes">
        <source>Delete this and %Ln later message(s)?</source>
        <translation>
            <numerusform>Delete this and %Ln later message?</numerusform>
            <numerusform>Delete this and %Ln later messages?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PairChip</name>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <comment>drafted per pass</comment>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProgressPart</name>
    <message numerus="yes">
        <source>Waiting for %Ln other reply(ies)…</source>
        <translation>
            <numerusform>Waiting for %Ln other reply…</numerusform>
            <numerusform>Waiting for %Ln other replies…</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectFilesCard</name>
    <message numerus="yes">
        <source>And %Ln more file(s)</source>
        <translation>
            <numerusform>And %Ln more file</numerusform>
            <numerusform>And %Ln more files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectForm</name>
    <message numerus="yes">
        <source>%Ln token(s), read once for all chats</source>
        <translation>
            <numerusform>%Ln token, read once for all chats</numerusform>
            <numerusform>%Ln tokens, read once for all chats</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectLine</name>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>%Ln file</numerusform>
            <numerusform>%Ln files</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectPage</name>
    <message numerus="yes">
        <source>%Ln file(s) left out: a project holds 5,000 files and 2 GB.</source>
        <translation>
            <numerusform>%Ln file left out: a project holds 5,000 files and 2 GB.</numerusform>
            <numerusform>%Ln files left out: a project holds 5,000 files and 2 GB.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ServerCard</name>
    <message numerus="yes">
        <source>%Ln tool(s)</source>
        <translation>
            <numerusform>%Ln tool</numerusform>
            <numerusform>%Ln tools</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ServerPage</name>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln minute</numerusform>
            <numerusform>%Ln minutes</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>Delete %Ln chat</numerusform>
            <numerusform>Delete %Ln chats</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Totals</name>
    <message numerus="yes">
        <source>%Ln reply(s)</source>
        <translation>
            <numerusform>%Ln reply</numerusform>
            <numerusform>%Ln replies</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>TrashWindow</name>
    <message numerus="yes">
        <source>Permanently delete %Ln item(s)?</source>
        <translation>
            <numerusform>Permanently delete %Ln item?</numerusform>
            <numerusform>Permanently delete %Ln items?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message numerus="yes">
        <source>%Ln reply(s) being written</source>
        <translation>
            <numerusform>%Ln reply being written</numerusform>
            <numerusform>%Ln replies being written</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Calls</name>
    <message numerus="yes">
        <source>Allow %1 to make %Ln call(s)?</source>
        <translation>
            <numerusform>Allow %1 to make %Ln call?</numerusform>
            <numerusform>Allow %1 to make %Ln calls?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Counts</name>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>%Ln message</numerusform>
            <numerusform>%Ln messages</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln day(s) left</source>
        <translation>
            <numerusform>%Ln day left</numerusform>
            <numerusform>%Ln days left</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln download(s)</source>
        <translation>
            <numerusform>%Ln download</numerusform>
            <numerusform>%Ln downloads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln token</numerusform>
            <numerusform>%Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln tool(s) on</source>
        <translation>
            <numerusform>%Ln tool on</numerusform>
            <numerusform>%Ln tools on</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Passes</name>
    <message numerus="yes">
        <source>Without a draft: %1 tok/s, measured on %Ln token(s). Between %2× and %3×.</source>
        <translation>
            <numerusform>Without a draft: %1 tok/s, measured on %Ln token. Between %2× and %3×.</numerusform>
            <numerusform>Without a draft: %1 tok/s, measured on %Ln tokens. Between %2× and %3×.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_RaceCounts</name>
    <message numerus="yes">
        <source>Same text: %Ln token(s).</source>
        <translation>
            <numerusform>Same text: the %Ln token is identical.</numerusform>
            <numerusform>Same text: all %Ln tokens are identical.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Median of %Ln pair(s) of laps.</source>
        <translation>
            <numerusform>Median of %Ln pair of laps.</numerusform>
            <numerusform>Median of %Ln pairs of laps.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Words</name>
    <message numerus="yes">
        <source>Copied without %Ln control character(s)</source>
        <translation>
            <numerusform>Copied without %Ln control character</numerusform>
            <numerusform>Copied without %Ln control characters</numerusform>
        </translation>
    </message>
</context>
</TS>
