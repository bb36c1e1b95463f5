<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>About</name>
    <message>
        <source>Hunch %1</source>
        <translation>Hunch %1</translation>
    </message>
    <message>
        <source>Build %1</source>
        <translation>构建 %1</translation>
    </message>
    <message>
        <source>A small draft guesses, the main model checks.</source>
        <translation>小型草稿模型先猜测，主模型再检查。</translation>
    </message>
    <message>
        <source>Apache License 2.0.</source>
        <translation>Apache 许可证 2.0。</translation>
    </message>
    <message>
        <source>Licenses</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>ActivityWindow</name>
    <message>
        <source>Activity</source>
        <translation>活动</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Totals</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>Replies appear here as they are written.</source>
        <translation>正在生成的回复会显示在这里。</translation>
    </message>
</context>
<context>
    <name>AddCard</name>
    <message>
        <source>That is no command, no address and no JSON with servers.</source>
        <translation>这不是命令、网址或包含服务器的 JSON。</translation>
    </message>
    <message>
        <source>Added, and off until you turn it on: %1</source>
        <translation>已添加，打开前不会运行：%1</translation>
    </message>
    <message>
        <source>Nothing new was found.</source>
        <translation>未找到新的服务器。</translation>
    </message>
    <message>
        <source>Command, address or JSON</source>
        <translation>命令、网址或 JSON</translation>
    </message>
    <message>
        <source>Such as %1 or %2. Keys in it go to the keychain.</source>
        <translation>例如 %1 或 %2。其中的密钥会存入钥匙串。</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
</context>
<context>
    <name>AdvancedPage</name>
    <message>
        <source>Reset all settings?</source>
        <translation>要还原所有设置吗？</translation>
    </message>
    <message>
        <source>Chats, models, presets, system prompt and hub access stay.</source>
        <translation>对话、模型、预设、系统提示词和 Hub 连接会保留。</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>还原</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Hub</source>
        <translation>Hub</translation>
    </message>
    <message>
        <source>Hunch</source>
        <translation>Hunch</translation>
    </message>
    <message>
        <source>Reset…</source>
        <translation>还原…</translation>
    </message>
    <message>
        <source>Data folder</source>
        <translation>数据文件夹</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Errors, never chat text.</source>
        <translation>只记录错误，不含对话内容。</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>还原所有设置</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Use OpenBLAS</source>
        <translation>使用 OpenBLAS</translation>
    </message>
    <message>
        <source>Much faster, but a draft may change replies. Needs a restart.</source>
        <translation>快得多，但草稿模型可能改变回复。需要重启。</translation>
    </message>
    <message>
        <source>Use Fusion style</source>
        <translation>使用 Fusion 样式</translation>
    </message>
    <message>
        <source>If controls look wrong.</source>
        <translation>控件显示异常时使用。</translation>
    </message>
</context>
<context>
    <name>AppOffer</name>
    <message>
        <source>Hunch then opens from Spotlight and the Dock, like any app.</source>
        <translation>之后就能像其他应用一样，从聚焦和程序坞打开。</translation>
    </message>
    <message>
        <source>Add Hunch to your Applications?</source>
        <translation>要将 Hunch 添加到“应用程序”吗？</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Hunch is in the Applications folder in your home folder.</source>
        <translation>已将 Hunch 添加到个人文件夹的“应用程序”文件夹中。</translation>
    </message>
    <message>
        <source>The Applications folder in your home folder cannot be written to.</source>
        <translation>无法写入个人文件夹的“应用程序”文件夹。</translation>
    </message>
    <message>
        <source>Hunch was not added</source>
        <translation>未能添加 Hunch</translation>
    </message>
</context>
<context>
    <name>AppearancePage</name>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Auto matches the system theme.</source>
        <translation>“自动”跟随系统主题。</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>文字大小</translation>
    </message>
    <message>
        <source>Now dark.</source>
        <translation>目前为深色。</translation>
    </message>
    <message>
        <source>Now light.</source>
        <translation>目前为浅色。</translation>
    </message>
    <message>
        <source>Now on.</source>
        <translation>目前已打开。</translation>
    </message>
    <message>
        <source>Now off.</source>
        <translation>目前已关闭。</translation>
    </message>
    <message>
        <source>Animations</source>
        <translation>动画效果</translation>
    </message>
    <message>
        <source>Auto follows Reduce Motion.</source>
        <translation>“自动”跟随“减弱动态效果”。</translation>
    </message>
    <message>
        <source>Figures under replies</source>
        <translation>回复下方的数据</translation>
    </message>
    <message>
        <source>Speed, accept rate, tokens per pass.</source>
        <translation>速度、接受率、每轮 token 数。</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>浅色</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>深色</translation>
    </message>
    <message>
        <source>On</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Application</name>
    <message>
        <source>Continue without saving</source>
        <translation>不存储，继续使用</translation>
    </message>
    <message>
        <source>Messages recovered: %1 (%2 from backups).</source>
        <translation>已恢复 %1 条消息，其中 %2 条来自备份。</translation>
    </message>
    <message>
        <source>The damaged file, with deleted content, stays in %2 as %1 for 30 days.</source>
        <translation>损坏的文件（包含已删除的内容）会以 %1 的名称在 %2 中保留 30 天。</translation>
    </message>
    <message>
        <source>Chats repaired</source>
        <translation>对话已修复</translation>
    </message>
    <message>
        <source>New chats are lost when you quit.</source>
        <translation>新内容会在退出后丢失。</translation>
    </message>
    <message>
        <source>Not saving chats</source>
        <translation>对话不会存储</translation>
    </message>
    <message>
        <source>Using defaults. The file is unchanged.</source>
        <translation>暂用默认值。文件未作更改。</translation>
    </message>
    <message>
        <source>Settings not read</source>
        <translation>未能读取设置</translation>
    </message>
    <message>
        <source>The old file is kept as %1.</source>
        <translation>原文件保留为 %1。</translation>
    </message>
    <message>
        <source>Some settings were reset</source>
        <translation>部分设置已还原</translation>
    </message>
    <message>
        <source>Settings apply until you quit.</source>
        <translation>退出之前有效。</translation>
    </message>
    <message>
        <source>They are too large. Delete presets or shorten system prompts.</source>
        <translation>设置过大。请删除预设或缩短系统提示词。</translation>
    </message>
    <message>
        <source>Settings not saved</source>
        <translation>设置未存储</translation>
    </message>
    <message>
        <source>Hunch quit while loading %1. Using the starter pair.</source>
        <translation>加载 %1 时 Hunch 意外退出，已改用入门模型。</translation>
    </message>
    <message>
        <source>Hunch quit while loading the draft %1.</source>
        <translation>加载草稿模型 %1 时 Hunch 意外退出。</translation>
    </message>
    <message>
        <source>Another model is loaded</source>
        <translation>已加载另一个模型</translation>
    </message>
    <message>
        <source>Show Report</source>
        <translation>显示报告</translation>
    </message>
    <message>
        <source>You can already type.</source>
        <translation>现在就可以输入。</translation>
    </message>
    <message>
        <source>Opening your chats…</source>
        <translation>正在打开对话…</translation>
    </message>
    <message>
        <source>Your chats are open on %1</source>
        <translation>你的对话正在 %1 上打开</translation>
    </message>
    <message>
        <source>Quit Hunch there, or words may be lost.</source>
        <translation>请先在那里退出 Hunch，否则文字可能会丢失。</translation>
    </message>
    <message>
        <source>If it is not running there, open them here.</source>
        <translation>如果那里没有运行，就在这里打开。</translation>
    </message>
    <message>
        <source>Open Here</source>
        <translation>在此打开</translation>
    </message>
    <message>
        <source>No draft model</source>
        <translation>没有草稿模型</translation>
    </message>
    <message>
        <source>Hunch quit unexpectedly. Your chats are safe.</source>
        <translation>Hunch 意外退出。你的对话完好无损。</translation>
    </message>
    <message>
        <source>Your chats need a newer Hunch.</source>
        <translation>打开这些对话需要更新版本的 Hunch。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Something went wrong in Hunch</source>
        <translation>Hunch 出了问题</translation>
    </message>
</context>
<context>
    <name>AttachmentActions</name>
    <message>
        <source>Attachment too long for this model.</source>
        <translation>附件对此模型来说太长。</translation>
    </message>
    <message>
        <source>Keep only its beginning</source>
        <translation>只保留开头</translation>
    </message>
    <message>
        <source>Search in it</source>
        <translation>在其中搜索</translation>
    </message>
    <message>
        <source>Attach Files</source>
        <translation>添加附件</translation>
    </message>
    <message>
        <source>Attach only its end</source>
        <translation>只添加末尾</translation>
    </message>
</context>
<context>
    <name>AttachmentChip</name>
    <message>
        <source>Picture</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>this model cannot see it</source>
        <translation>此模型无法识别</translation>
    </message>
    <message>
        <source>contains a match</source>
        <translation>含有匹配项</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>移除 %1</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <translation>粘贴的文本</translation>
    </message>
    <message>
        <source>From the documents</source>
        <translation>来自文档</translation>
    </message>
    <message>
        <source>not imported</source>
        <translation>未导入</translation>
    </message>
    <message>
        <source>searched</source>
        <translation>供搜索</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>正在读取…</translation>
    </message>
    <message>
        <source>Reading… %1</source>
        <translation>正在读取… %1</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln 个 token</numerusform>
        </translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Insert into Message</source>
        <translation>插入消息</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
</context>
<context>
    <name>AttachmentDialog</name>
    <message>
        <source>Not included in the import.</source>
        <translation>导入的内容中没有此文件。</translation>
    </message>
    <message>
        <source>Page %1</source>
        <translation>第 %1 页</translation>
    </message>
    <message>
        <source>Line %1</source>
        <translation>第 %1 行</translation>
    </message>
    <message>
        <source>Open the File</source>
        <translation>打开文件</translation>
    </message>
    <message>
        <source>Show in Folder</source>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>Insert into Message</source>
        <translation>插入消息</translation>
    </message>
    <message>
        <source>Remove from Message</source>
        <translation>从消息中移除</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>BeginningPart</name>
    <message>
        <source>The model reads from here on</source>
        <translation>模型从这里开始读取</translation>
    </message>
    <message>
        <source>The model reads this summary, and what follows</source>
        <translation>模型读取这份摘要及其后的内容</translation>
    </message>
    <message>
        <source>Summary of earlier messages</source>
        <translation>前面消息的摘要</translation>
    </message>
    <message>
        <source>Show what is left out</source>
        <translation>查看未读取的内容</translation>
    </message>
</context>
<context>
    <name>CallPart</name>
    <message>
        <source>Hide the call</source>
        <translation>隐藏调用内容</translation>
    </message>
    <message>
        <source>Show the call</source>
        <translation>显示调用内容</translation>
    </message>
</context>
<context>
    <name>CallTextPart</name>
    <message>
        <source>Arguments</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>What went wrong</source>
        <translation>出错原因</translation>
    </message>
    <message>
        <source>Copy result</source>
        <translation>拷贝结果</translation>
    </message>
    <message>
        <source>Copy arguments</source>
        <translation>拷贝参数</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Send with</source>
        <translation>发送键</translation>
    </message>
    <message>
        <source>Shift-Return starts a new line.</source>
        <translation>Shift+回车键换行。</translation>
    </message>
    <message>
        <source>Automatic titles</source>
        <translation>自动标题</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>通知</translation>
    </message>
    <message>
        <source>When a reply finishes in the background.</source>
        <translation>使用其他应用时，回复完成后通知你。</translation>
    </message>
    <message>
        <source>Show the reply in notifications</source>
        <translation>在通知中显示回复</translation>
    </message>
    <message>
        <source>Ctrl+Return</source>
        <translation>Ctrl+回车键</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>回车键</translation>
    </message>
</context>
<context>
    <name>ChatGroups</name>
    <message>
        <source>MMMM yyyy</source>
        <comment>a month, as a date format</comment>
        <translation>yyyy年M月</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今天</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨天</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <translation>过去 7 天</translation>
    </message>
    <message>
        <source>%1 copy</source>
        <comment>the title of a chat&apos;s copy</comment>
        <translation>%1 副本</translation>
    </message>
    <message>
        <source>%1 copy %2</source>
        <comment>the title of a second or later copy</comment>
        <translation>%1 副本 %2</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>新建文件夹</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>the name of a second new folder: New folder 2</comment>
        <translation>%1 %2</translation>
    </message>
</context>
<context>
    <name>ChatList</name>
    <message>
        <source>Delete the folder “%1”?</source>
        <translation>要删除文件夹“%1”吗？</translation>
    </message>
    <message>
        <source>Move contents up</source>
        <translation>将内容移到上一级</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Delete everything</source>
        <translation>连同内容删除</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>%Ln 个对话</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1和 %2</translation>
    </message>
    <message numerus="yes">
        <source>%Ln folder(s)</source>
        <translation>
            <numerusform>%Ln 个文件夹</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted chats stay in Recently Deleted for 30 days.</source>
        <translation>删除的对话会在“最近删除”中保留 30 天。</translation>
    </message>
    <message>
        <source>Contains %1.</source>
        <translation>其中有 %1。</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>新建文件夹</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message numerus="yes">
        <source>Export %Ln chat(s)…</source>
        <translation>
            <numerusform>导出 %Ln 个对话…</numerusform>
        </translation>
    </message>
    <message>
        <source>New Chat Here</source>
        <translation>在此新建对话</translation>
    </message>
    <message>
        <source>Project…</source>
        <translation>项目…</translation>
    </message>
    <message>
        <source>New Subfolder</source>
        <translation>新建子文件夹</translation>
    </message>
    <message>
        <source>Move to</source>
        <translation>移到</translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>删除 %Ln 个对话</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>删除…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消置顶</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>置顶</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>创建副本</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Folder name</source>
        <translation>文件夹名称</translation>
    </message>
    <message>
        <source>Chat title</source>
        <translation>对话标题</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
</context>
<context>
    <name>ChatMenu</name>
    <message>
        <source>No Folder</source>
        <translation>不放入文件夹</translation>
    </message>
    <message>
        <source>New Folder…</source>
        <translation>新建文件夹…</translation>
    </message>
</context>
<context>
    <name>ChatRows</name>
    <message>
        <source>level %1</source>
        <translation>第 %1 级</translation>
    </message>
    <message>
        <source>open folder</source>
        <translation>展开的文件夹</translation>
    </message>
    <message>
        <source>closed folder</source>
        <translation>收起的文件夹</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>已置顶</translation>
    </message>
    <message>
        <source>writing a reply</source>
        <translation>正在生成回复</translation>
    </message>
    <message>
        <source>new reply</source>
        <translation>有新回复</translation>
    </message>
    <message>
        <source>unsent text</source>
        <translation>有未发送的文字</translation>
    </message>
    <message>
        <source>More in this chat</source>
        <translation>此对话中还有更多</translation>
    </message>
</context>
<context>
    <name>ChatSettings</name>
    <message>
        <source>This model</source>
        <translation>此模型</translation>
    </message>
    <message>
        <source>This chat</source>
        <translation>此对话</translation>
    </message>
    <message>
        <source>Settings for</source>
        <translation>设置对象</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>对话设置</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部还原</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>ChatSettingsButton</name>
    <message>
        <source>Chat settings (changed here)</source>
        <translation>对话设置（此对话有更改）</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>对话设置</translation>
    </message>
    <message>
        <source>Chat Settings…</source>
        <translation>对话设置…</translation>
    </message>
</context>
<context>
    <name>ChatToolsButton</name>
    <message>
        <source>Tools: %1</source>
        <translation>工具：%1</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>工具</translation>
    </message>
</context>
<context>
    <name>ChatToolsPanel</name>
    <message>
        <source>Choose a model first.</source>
        <translation>请先选择模型。</translation>
    </message>
    <message>
        <source>After a change the model reads the whole chat again.</source>
        <translation>更改后，模型会重新读取整个对话。</translation>
    </message>
    <message>
        <source>Tools in this chat</source>
        <translation>此对话的工具</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>That is a lot: less of the chat fits, and small models choose worse among many.</source>
        <translation>占用较多：留给对话的空间会减少，小模型也更难选对。</translation>
    </message>
    <message>
        <source>Manage Tools…</source>
        <translation>管理工具…</translation>
    </message>
    <message>
        <source>Find one that can</source>
        <translation>查找可用的模型</translation>
    </message>
</context>
<context>
    <name>Clients</name>
    <message>
        <source>Add to %1.</source>
        <translation>添加到 %1。</translation>
    </message>
    <message>
        <source>Run in a terminal.</source>
        <translation>在终端中运行。</translation>
    </message>
    <message>
        <source>In Xcode, Settings &gt; Intelligence: add a locally hosted provider with port %1.</source>
        <translation>在 Xcode 的“设置”&gt;“智能”中，添加本地托管的提供商，端口填 %1。</translation>
    </message>
    <message>
        <source>Already running: add %1 in Admin Panel &gt; Settings &gt; Connections, or %2 if it runs in Docker.</source>
        <translation>已在运行时，在 Admin Panel &gt; Settings &gt; Connections 中添加 %1；在 Docker 中运行时用 %2。</translation>
    </message>
    <message>
        <source>Run in a terminal. In short: %1</source>
        <translation>在终端中运行。简写：%1</translation>
    </message>
    <message>
        <source>%1 works with tools, and %2 calls none.</source>
        <translation>%1 需要会调用工具的模型，而 %2 不会调用工具。</translation>
    </message>
    <message>
        <source>%1 needs a context of %2 tokens, and %3 has %4.</source>
        <translation>%1 需要 %2 个 token 的上下文，而 %3 只有 %4 个。</translation>
    </message>
</context>
<context>
    <name>CodePart</name>
    <message>
        <source>Copy code</source>
        <translation>拷贝代码</translation>
    </message>
    <message>
        <source>text</source>
        <translation>文本</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation>命令面板</translation>
    </message>
    <message>
        <source>Search commands, chats, models and settings</source>
        <translation>搜索命令、对话、模型和设置</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>没有找到结果。</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Ask anything</source>
        <translation>有问题，尽管问</translation>
    </message>
    <message>
        <source>Ask about a shape or a digit</source>
        <translation>询问图中的图形或数字</translation>
    </message>
    <message>
        <source>Ask about Hunch</source>
        <translation>询问有关 Hunch 的问题</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>添加附件</translation>
    </message>
    <message>
        <source>Sends after this reply. Type to edit.</source>
        <translation>回复完成后发送。继续输入即可修改。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) too many.</source>
        <translation>
            <numerusform>超出 %Ln 个 token。</numerusform>
        </translation>
    </message>
    <message>
        <source>Still reading an attachment.</source>
        <translation>正在读取附件。</translation>
    </message>
    <message>
        <source>Still saving your last message.</source>
        <translation>正在存储上一条消息。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
</context>
<context>
    <name>ConnectCard</name>
    <message>
        <source>Enter the key there as well.</source>
        <translation>密钥也在那里填写。</translation>
    </message>
    <message>
        <source>Connect a program</source>
        <translation>连接程序</translation>
    </message>
    <message>
        <source>Text to paste</source>
        <translation>要粘贴的文本</translation>
    </message>
    <message>
        <source>%1 is installed and can serve it.</source>
        <translation>已安装的 %1 可以使用。</translation>
    </message>
    <message>
        <source>%1 can serve it: see Models.</source>
        <translation>%1 可以使用，请在“模型”中安装。</translation>
    </message>
</context>
<context>
    <name>ConsentPart</name>
    <message>
        <source>What it would do</source>
        <translation>将要执行的内容</translation>
    </message>
</context>
<context>
    <name>ContextRing</name>
    <message>
        <source>Context: %1 of %2 tokens</source>
        <translation>上下文：已用 %1 / %2 token</translation>
    </message>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>前面的 %Ln 条消息不再读取</numerusform>
        </translation>
    </message>
    <message>
        <source>When it is full, the oldest messages are left out</source>
        <translation>填满后会略去最早的消息</translation>
    </message>
    <message>
        <source>%1 of them are the project&apos;s, read once for all its chats</source>
        <translation>其中 %1 个属于项目，所有对话只读取一次</translation>
    </message>
    <message>
        <source>Limited to %1 tokens (model: %2)</source>
        <translation>限制为 %1 个 token（模型上限 %2）</translation>
    </message>
    <message>
        <source>Memory holds about %1 tokens (model: %2)</source>
        <translation>内存约可容纳 %1 个 token（模型上限 %2）</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) too many</source>
        <translation>
            <numerusform>超出 %Ln 个 token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 full</source>
        <comment>the context</comment>
        <translation>已用 %1</translation>
    </message>
</context>
<context>
    <name>CopyButton</name>
    <message>
        <source>Copied</source>
        <translation>已拷贝</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>拷贝</translation>
    </message>
</context>
<context>
    <name>DiscoverPanel</name>
    <message>
        <source>Drafts for %1</source>
        <translation>适用于 %1 的草稿模型</translation>
    </message>
    <message>
        <source>Showing Hunch&apos;s built-in list.</source>
        <translation>正在显示 Hunch 内置的列表。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln models; others may be missing.</source>
        <translation>
            <numerusform>%Ln 个模型，可能还有遗漏。</numerusform>
        </translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>No results. Try fewer words or filters.</source>
        <translation>没有结果。请减少搜索词或筛选条件。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln models</source>
        <translation>
            <numerusform>%Ln 个模型</numerusform>
        </translation>
    </message>
    <message>
        <source>All models</source>
        <translation>所有模型</translation>
    </message>
    <message>
        <source>Search models, or enter author/model</source>
        <translation>搜索模型，或输入“作者/模型”</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>Any family</source>
        <translation>所有系列</translation>
    </message>
    <message>
        <source>Any precision</source>
        <translation>所有精度</translation>
    </message>
    <message>
        <source>Up to %1 GB</source>
        <translation>不超过 %1 GB</translation>
    </message>
    <message>
        <source>Any size</source>
        <translation>所有大小</translation>
    </message>
    <message>
        <source>Any kind</source>
        <translation>所有类型</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>专用草稿模型</translation>
    </message>
    <message>
        <source>Most downloads</source>
        <translation>下载最多</translation>
    </message>
    <message>
        <source>Most likes</source>
        <translation>点赞最多</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>最新</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>系列</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>排序</translation>
    </message>
    <message>
        <source>Runs on this Mac</source>
        <translation>仅显示这台 Mac 能运行的</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Show more</source>
        <translation>显示更多</translation>
    </message>
    <message>
        <source>Models found</source>
        <translation>找到的模型</translation>
    </message>
</context>
<context>
    <name>Dock</name>
    <message>
        <source>New Chat</source>
        <translation>新建对话</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>快速提问…</translation>
    </message>
</context>
<context>
    <name>DownloadRing</name>
    <message>
        <source>Downloads paused at %1</source>
        <translation>下载已暂停（%1）</translation>
    </message>
    <message>
        <source>Downloading: %1</source>
        <translation>正在下载：%1</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <source>Pause</source>
        <translation>暂停</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Hide files</source>
        <translation>隐藏文件</translation>
    </message>
    <message>
        <source>Show files</source>
        <translation>显示文件</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>立即重试</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>从列表中移除</translation>
    </message>
    <message>
        <source>Remove and delete download</source>
        <translation>移除并删除已下载的部分</translation>
    </message>
    <message>
        <source>Cancel and delete download</source>
        <translation>取消并删除已下载的部分</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Open model page</source>
        <translation>打开模型页面</translation>
    </message>
    <message>
        <source>The download failed.</source>
        <translation>下载失败。</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>Contacting hub…</source>
        <translation>正在查询 Hub…</translation>
    </message>
    <message>
        <source>Turn off offline mode to resume.</source>
        <translation>关闭离线模式后继续下载。</translation>
    </message>
    <message>
        <source>Paused at %1</source>
        <translation>已暂停，已下载 %1</translation>
    </message>
    <message>
        <source>Paused at %1 of %2</source>
        <translation>已暂停，已下载 %1，共 %2</translation>
    </message>
</context>
<context>
    <name>Downloads</name>
    <message>
        <source>%1 s left</source>
        <translation>剩余 %1 秒</translation>
    </message>
    <message>
        <source>%1 min left</source>
        <translation>剩余 %1 分钟</translation>
    </message>
    <message>
        <source>%1 h %2 min left</source>
        <translation>剩余 %1 小时 %2 分钟</translation>
    </message>
    <message>
        <source>%1 days left</source>
        <translation>剩余 %1 天</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>%1 per second</source>
        <translation>每秒 %1</translation>
    </message>
    <message>
        <source>Hub busy. Retrying in %1 s</source>
        <translation>Hub 繁忙，%1 秒后重试</translation>
    </message>
    <message>
        <source>Connection lost. Retrying in %1 s</source>
        <translation>连接已断开，%1 秒后重试</translation>
    </message>
</context>
<context>
    <name>DraftRow</name>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Install both</source>
        <translation>全部安装</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
</context>
<context>
    <name>DropSign</name>
    <message>
        <source>Drop files to attach</source>
        <translation>拖放文件以添加附件</translation>
    </message>
</context>
<context>
    <name>EditorPart</name>
    <message>
        <source>You</source>
        <translation>我</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Speaker</source>
        <translation>发言者</translation>
    </message>
    <message>
        <source>Your message</source>
        <translation>我的消息</translation>
    </message>
    <message>
        <source>Model&apos;s reply</source>
        <translation>模型的回复</translation>
    </message>
    <message>
        <source>New message</source>
        <translation>新消息</translation>
    </message>
    <message>
        <source>Edited message</source>
        <translation>正在编辑的消息</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>添加附件</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Insert</source>
        <translation>插入</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>存储</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Insert and continue</source>
        <translation>插入并继续生成</translation>
    </message>
    <message>
        <source>Save and continue</source>
        <translation>存储并继续生成</translation>
    </message>
    <message>
        <source>Insert and send</source>
        <translation>插入并发送</translation>
    </message>
    <message>
        <source>Save only</source>
        <translation>仅存储</translation>
    </message>
    <message>
        <source>Later messages stay.</source>
        <translation>后面的消息会保留。</translation>
    </message>
    <message>
        <source>Generates a new reply.</source>
        <translation>生成新的回复。</translation>
    </message>
    <message>
        <source>The model continues from here.</source>
        <translation>模型从这里继续生成。</translation>
    </message>
</context>
<context>
    <name>EffortButton</name>
    <message>
        <source>Use for All Chats with %1</source>
        <translation>用于 %1 的所有对话</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>EmptyChat</name>
    <message>
        <source>Guess ahead, check at once, read sooner.</source>
        <translation>提前猜测，一次检查，更快读到。</translation>
    </message>
    <message>
        <source>What is speculative decoding?</source>
        <extracomment>Three questions that the starter pair was taught; use the exact words of packaging/starter/guide.</extracomment>
        <translation>什么是投机解码？</translation>
    </message>
    <message>
        <source>Does drafting change the text?</source>
        <translation>使用草稿模型会改变回复吗？</translation>
    </message>
    <message>
        <source>How do I get better answers?</source>
        <translation>怎样得到更好的回答？</translation>
    </message>
    <message>
        <source>The starter pair only knows Hunch. %1: %2.</source>
        <comment>Install a model</comment>
        <translation>入门模型只了解 Hunch。%1：%2。</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <source>Install or choose one.</source>
        <translation>请安装或选择一个模型。</translation>
    </message>
    <message>
        <source>Chat about anything</source>
        <translation>畅聊任何话题</translation>
    </message>
    <message>
        <source>%1 and its draft are installed.</source>
        <translation>%1 及其草稿模型已安装。</translation>
    </message>
    <message>
        <source>The starter pair only knows Hunch. Install a larger model.</source>
        <translation>入门模型只了解 Hunch。请安装更大的模型。</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>模型…</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Export all chats</source>
        <translation>导出全部对话</translation>
    </message>
    <message>
        <source>Export “%1”</source>
        <translation>导出“%1”</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>格式</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message numerus="yes">
        <source>Export %Ln chat(s)</source>
        <translation>
            <numerusform>导出 %Ln 个对话</numerusform>
        </translation>
    </message>
    <message>
        <source>With the files of projects and chats</source>
        <translation>连同项目和对话的文件</translation>
    </message>
    <message>
        <source>Exporting chat %1 of %2…</source>
        <translation>正在导出第 %1 个对话（共 %2 个）…</translation>
    </message>
    <message>
        <source>Exporting…</source>
        <translation>正在导出…</translation>
    </message>
    <message>
        <source>To import again: all versions, thinking, statistics, attachments.</source>
        <translation>供重新导入：所有版本、思考、统计和附件。</translation>
    </message>
    <message>
        <source>To read: one file per chat.</source>
        <translation>供阅读：每个对话一个文件。</translation>
    </message>
    <message>
        <source>To read: as shown.</source>
        <translation>供阅读：与屏幕所示一致。</translation>
    </message>
    <message>
        <source>Export here</source>
        <translation>导出到此处</translation>
    </message>
    <message>
        <source>Hunch chats %1</source>
        <comment>the name of a file; a date</comment>
        <translation>Hunch 对话 %1</translation>
    </message>
</context>
<context>
    <name>FileLine</name>
    <message>
        <source>Remove %1</source>
        <translation>移除 %1</translation>
    </message>
</context>
<context>
    <name>Files</name>
    <message>
        <source>Files not attached: %1</source>
        <translation>未能添加的文件：%1 个</translation>
    </message>
    <message>
        <source>And %1 more.</source>
        <translation>另有 %1 个。</translation>
    </message>
    <message>
        <source>%1 not attached</source>
        <translation>未能添加 %1</translation>
    </message>
    <message>
        <source>Not attached</source>
        <translation>未能添加附件</translation>
    </message>
    <message>
        <source>Not PNG, JPEG, GIF, WebP or BMP.</source>
        <translation>不是 PNG、JPEG、GIF、WebP 或 BMP。</translation>
    </message>
    <message>
        <source>No readable text.</source>
        <translation>没有可读取的文本。</translation>
    </message>
    <message>
        <source>A folder.</source>
        <translation>这是一个文件夹。</translation>
    </message>
    <message>
        <source>Empty.</source>
        <translation>文件为空。</translation>
    </message>
    <message>
        <source>Larger than %1.</source>
        <translation>文件超过 %1。</translation>
    </message>
    <message>
        <source>Longer than %1 characters.</source>
        <translation>文本超过 %1 个字符。</translation>
    </message>
    <message>
        <source>Up to %1 files per message.</source>
        <translation>一条消息最多添加 %1 个文件。</translation>
    </message>
    <message>
        <source>Not found.</source>
        <translation>找不到文件。</translation>
    </message>
    <message>
        <source>No permission.</source>
        <translation>没有读取权限。</translation>
    </message>
    <message>
        <source>Not readable.</source>
        <translation>无法读取。</translation>
    </message>
    <message>
        <source>Password-protected.</source>
        <translation>有密码保护。</translation>
    </message>
    <message>
        <source>Page images without text.</source>
        <translation>只有页面图像，没有文本。</translation>
    </message>
    <message>
        <source>Damaged.</source>
        <translation>已损坏。</translation>
    </message>
    <message>
        <source>Too complex.</source>
        <translation>过于复杂。</translation>
    </message>
    <message>
        <source>Up to %1 pixels.</source>
        <translation>最多 %1 像素。</translation>
    </message>
    <message>
        <source>Attach it as text or PDF.</source>
        <translation>请转为文本或 PDF 后再添加。</translation>
    </message>
    <message>
        <source>Attach its files.</source>
        <translation>请添加其中的文件。</translation>
    </message>
    <message>
        <source>Attach only what you need.</source>
        <translation>请只添加需要的部分。</translation>
    </message>
    <message>
        <source>Send these, or remove some.</source>
        <translation>请先发送这些，或移除一部分。</translation>
    </message>
    <message>
        <source>Allow access in System Settings.</source>
        <translation>请在系统设置中允许访问。</translation>
    </message>
    <message>
        <source>Check the disk.</source>
        <translation>请检查磁盘。</translation>
    </message>
    <message>
        <source>Too many pixels.</source>
        <translation>像素过多。</translation>
    </message>
    <message>
        <source>Too narrow to make out.</source>
        <translation>过于狭长，无法辨认。</translation>
    </message>
    <message>
        <source>Not saved.</source>
        <translation>无法存储。</translation>
    </message>
    <message>
        <source>Save it as PNG or JPEG.</source>
        <translation>请存储为 PNG 或 JPEG。</translation>
    </message>
    <message>
        <source>Attach a part.</source>
        <translation>请只添加其中一部分。</translation>
    </message>
    <message>
        <source>Remove the password.</source>
        <translation>请移除密码。</translation>
    </message>
    <message>
        <source>Run text recognition (OCR) first.</source>
        <translation>请先进行文字识别（OCR）。</translation>
    </message>
    <message>
        <source>Resave it in another app.</source>
        <translation>请用其他应用重新存储。</translation>
    </message>
    <message>
        <source>Attach fewer pages.</source>
        <translation>请减少页数后再添加。</translation>
    </message>
</context>
<context>
    <name>FindBar</name>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>Not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>Find in chat</source>
        <translation>在对话中查找</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>上一个匹配项</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>下一个匹配项</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>FoldPart</name>
    <message>
        <source>Hide thinking</source>
        <translation>隐藏思考</translation>
    </message>
    <message>
        <source>Show thinking</source>
        <translation>显示思考</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>正在思考…</translation>
    </message>
    <message>
        <source>Thinking for %1…</source>
        <translation>已思考 %1…</translation>
    </message>
    <message>
        <source>Thought for %1</source>
        <translation>思考了 %1</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 分 %2 秒</translation>
    </message>
    <message>
        <source>Answer now</source>
        <translation>立即回答</translation>
    </message>
</context>
<context>
    <name>FolderRow</name>
    <message>
        <source>Stop looking in %1</source>
        <translation>停止在 %1 中查找模型</translation>
    </message>
</context>
<context>
    <name>FoldersRow</name>
    <message>
        <source>Remove %1</source>
        <translation>移除 %1</translation>
    </message>
    <message>
        <source>Files and folders to read</source>
        <translation>可读取的文件和文件夹</translation>
    </message>
    <message>
        <source>None yet.</source>
        <translation>尚未选择。</translation>
    </message>
    <message>
        <source>Add Folder…</source>
        <translation>添加文件夹…</translation>
    </message>
    <message>
        <source>Add Files…</source>
        <translation>添加文件…</translation>
    </message>
</context>
<context>
    <name>Formats</name>
    <message>
        <source>%1×</source>
        <translation>%1 倍</translation>
    </message>
</context>
<context>
    <name>GeneralPage</name>
    <message>
        <source>Never</source>
        <translation>从不</translation>
    </message>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln 分钟</numerusform>
        </translation>
    </message>
    <message>
        <source>Match system (%1)</source>
        <translation>跟随系统（%1）</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Menu bar icon</source>
        <translation>菜单栏图标</translation>
    </message>
    <message>
        <source>System tray icon</source>
        <translation>系统托盘图标</translation>
    </message>
    <message>
        <source>Keeps Hunch open for Quick Ask.</source>
        <translation>关闭窗口后仍可快速提问。</translation>
    </message>
    <message>
        <source>Tell me about updates</source>
        <translation>有更新时通知我</translation>
    </message>
    <message>
        <source>Asks once a day. Installs nothing.</source>
        <translation>每天检查一次，不会自动安装。</translation>
    </message>
    <message>
        <source>Unload idle models</source>
        <translation>卸载闲置的模型</translation>
    </message>
    <message>
        <source>Your next message reloads them.</source>
        <translation>发送下一条消息时重新加载。</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>Show sidebar</source>
        <translation>显示侧边栏</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新建对话</translation>
    </message>
</context>
<context>
    <name>Help</name>
    <message>
        <source>It holds no chats and no tokens.</source>
        <translation>其中不含对话内容和令牌。</translation>
    </message>
    <message>
        <source>Diagnostics copied</source>
        <translation>已拷贝诊断信息</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
</context>
<context>
    <name>HelpWindow</name>
    <message>
        <source>Hunch Help</source>
        <translation>Hunch 帮助</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search Help</source>
        <translation>搜索帮助</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>没有找到结果。</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>页面</translation>
    </message>
</context>
<context>
    <name>Hub</name>
    <message>
        <source>%1 parameters</source>
        <translation>%1 参数</translation>
    </message>
    <message>
        <source>needs a token</source>
        <translation>需要令牌</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>not quantized</source>
        <translation>未量化</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>约 %1</translation>
    </message>
</context>
<context>
    <name>HubCard</name>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>令牌</translation>
    </message>
    <message>
        <source>For private and gated models.</source>
        <translation>用于私有或需授权的模型。</translation>
    </message>
    <message>
        <source>The token for %1 is never sent here.</source>
        <translation>%1 的令牌不会发送到这里。</translation>
    </message>
    <message>
        <source>Now %1.</source>
        <translation>目前：%1。</translation>
    </message>
    <message>
        <source>Send token unencrypted</source>
        <translation>不加密发送令牌</translation>
    </message>
    <message>
        <source>For http. Others can read it.</source>
        <translation>用于 http 地址。他人可能看到。</translation>
    </message>
    <message>
        <source>Mirrors</source>
        <translation>镜像</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>代理</translation>
    </message>
    <message>
        <source>Empty: system proxy.</source>
        <translation>留空：系统代理。</translation>
    </message>
    <message>
        <source>Separate with spaces. Your token is never sent to them.</source>
        <translation>用空格分隔。不会向镜像发送令牌。</translation>
    </message>
    <message>
        <source>Download limit</source>
        <translation>下载限速</translation>
    </message>
    <message>
        <source>MB per second.</source>
        <translation>MB/秒。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Offline mode</source>
        <translation>离线模式</translation>
    </message>
    <message>
        <source>Installed models keep working.</source>
        <translation>已安装的模型照常可用。</translation>
    </message>
</context>
<context>
    <name>ImportCard</name>
    <message>
        <source>Its tool servers. Its file is only read.</source>
        <translation>该应用的工具服务器。仅读取其配置文件。</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>Import from %1</source>
        <translation>从 %1 导入</translation>
    </message>
</context>
<context>
    <name>ImportDialog</name>
    <message>
        <source>Import</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>Import chats</source>
        <translation>导入对话</translation>
    </message>
    <message>
        <source>Cannot be imported</source>
        <translation>无法导入的内容</translation>
    </message>
    <message>
        <source>Import existing chats as copies</source>
        <translation>将已有的对话再次导入为副本</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Choose files…</source>
        <translation>选择文件…</translation>
    </message>
    <message>
        <source>Checking files…</source>
        <translation>正在检查文件…</translation>
    </message>
    <message>
        <source>Importing…</source>
        <translation>正在导入…</translation>
    </message>
    <message>
        <source>From Hunch (JSON), ChatGPT (export or conversations.json) or LM Studio (“conversations”).</source>
        <translation>来自 Hunch（JSON）、ChatGPT（压缩包或 conversations.json）或 LM Studio（“conversations”）的对话。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>%Ln 个对话</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>%Ln 条消息</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln new preset(s)</source>
        <translation>
            <numerusform>%Ln 个新预设</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln already here</source>
        <comment>chats</comment>
        <translation>
            <numerusform>%Ln 个已存在</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln unreadable</source>
        <comment>chats or files</comment>
        <translation>
            <numerusform>%Ln 个无法读取</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln picture(s) left out</source>
        <translation>
            <numerusform>%Ln 张图片无法导入</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message>
        <source>No reply yet</source>
        <translation>还没有回复</translation>
    </message>
    <message>
        <source>Drafting is off</source>
        <translation>未使用草稿模型</translation>
    </message>
    <message>
        <source>No draft</source>
        <translation>无草稿模型</translation>
    </message>
    <message>
        <source>Drafting not supported</source>
        <translation>不支持草稿模型</translation>
    </message>
    <message>
        <source>The draft failed</source>
        <translation>草稿模型出错</translation>
    </message>
    <message>
        <source>Too short to judge</source>
        <translation>太短，无法判断</translation>
    </message>
    <message>
        <source>Nothing was written</source>
        <translation>没有写出内容</translation>
    </message>
    <message>
        <source>Send a message first.</source>
        <translation>请先发送消息。</translation>
    </message>
    <message>
        <source>Accepted by position</source>
        <translation>各位置的接受率</translation>
    </message>
    <message>
        <source>%1 of guesses were right.</source>
        <translation>%1 的猜测正确。</translation>
    </message>
    <message>
        <source>position %1: %2</source>
        <translation>第 %1 个：%2</translation>
    </message>
    <message>
        <source>Accepted per pass</source>
        <translation>每轮接受的 token</translation>
    </message>
    <message>
        <source>%1 accepted: %2 of the passes</source>
        <translation>接受 %1 个：占轮次的 %2</translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <translation>每轮 token&#xa0;数</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>正在测量…</translation>
    </message>
    <message>
        <source>Answered together</source>
        <translation>同时生成</translation>
    </message>
    <message>
        <source>Too close to call</source>
        <translation>尚难判断</translation>
    </message>
    <message>
        <source>This pair: %1.</source>
        <translation>这组模型：%1。</translation>
    </message>
    <message>
        <source>break-even %1</source>
        <translation>盈亏平衡点 %1</translation>
    </message>
    <message>
        <source>Time spent</source>
        <translation>时间分布</translation>
    </message>
    <message>
        <source>draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>main model</source>
        <translation>主模型</translation>
    </message>
    <message>
        <source>other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>Tokens per pass over time</source>
        <translation>每轮 token 数的变化</translation>
    </message>
    <message>
        <source>first %1, last %2, from %3 to %4</source>
        <translation>开始 %1，结束 %2，范围 %3 至 %4</translation>
    </message>
    <message>
        <source>%1 s saved</source>
        <translation>节省 %1 秒</translation>
    </message>
    <message>
        <source>%1 s lost</source>
        <translation>多用 %1 秒</translation>
    </message>
    <message>
        <source>What do these mean?</source>
        <translation>这些数字是什么意思？</translation>
    </message>
    <message>
        <source>Pass</source>
        <translation>轮次</translation>
    </message>
    <message>
        <source>One check: the main model keeps the guesses before the first mismatch and adds a token.</source>
        <translation>主模型一次检查全部猜测，保留第一个不同之处以前的部分，再加上一个 token。</translation>
    </message>
    <message>
        <source>Accept rate</source>
        <translation>接受率</translation>
    </message>
    <message>
        <source>Share of guesses kept.</source>
        <translation>猜测中被保留的比例。</translation>
    </message>
    <message>
        <source>Without a draft: 1.</source>
        <translation>不用草稿模型时为 1。</translation>
    </message>
    <message>
        <source>Break-even</source>
        <translation>盈亏平衡点</translation>
    </message>
    <message>
        <source>Speed with the draft against without, on this Mac.</source>
        <translation>在这台 Mac 上，使用草稿与不使用时的速度之比。</translation>
    </message>
    <message>
        <source>Above this, replies are faster.</source>
        <translation>高于它，回复就更快。</translation>
    </message>
    <message>
        <source>Faster, slower</source>
        <translation>更快、更慢</translation>
    </message>
    <message>
        <source>Share kept, once all before were.</source>
        <translation>前面都猜对时的接受比例。</translation>
    </message>
</context>
<context>
    <name>InspectorButton</name>
    <message>
        <source>Widen the window to show the inspector.</source>
        <translation>请加宽窗口以显示检查器。</translation>
    </message>
    <message>
        <source>Hide inspector</source>
        <translation>隐藏检查器</translation>
    </message>
    <message>
        <source>Show inspector</source>
        <translation>显示检查器</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
</context>
<context>
    <name>InspectorPanel</name>
    <message>
        <source>The starter pair knows its text; others gain less.</source>
        <translation>入门模型已将内容背熟，其他模型组合不会快这么多。</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>检查器</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>为此组合关闭</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>竞速…</translation>
    </message>
    <message>
        <source>With and without the draft</source>
        <translation>比较用与不用草稿模型</translation>
    </message>
</context>
<context>
    <name>InstallCard</name>
    <message>
        <source>Install from the hub</source>
        <translation>从 Hub 安装</translation>
    </message>
    <message>
        <source>Repository name or page address.</source>
        <translation>仓库名称或页面地址。</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>仓库</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
</context>
<context>
    <name>InstalledCard</name>
    <message>
        <source>Show %1 more</source>
        <translation>再显示 %1 个</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>正在查找模型…</translation>
    </message>
    <message>
        <source>No matching models.</source>
        <translation>没有符合条件的模型。</translation>
    </message>
    <message>
        <source>No models installed.</source>
        <translation>尚未安装模型。</translation>
    </message>
    <message>
        <source>Frees %1.</source>
        <translation>将释放 %1。</translation>
    </message>
    <message>
        <source>Delete %1?</source>
        <translation>要删除 %1 吗？</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>On disk: %1</source>
        <translation>占用磁盘：%1</translation>
    </message>
    <message>
        <source>%1 · Installed by Hunch: %2</source>
        <translation>%1 · 由 Hunch 安装：%2</translation>
    </message>
    <message>
        <source>%1 shown · %2</source>
        <translation>显示 %1 个 · %2</translation>
    </message>
    <message>
        <source>Search installed models</source>
        <translation>搜索已安装的模型</translation>
    </message>
    <message>
        <source>All kinds</source>
        <translation>所有类型</translation>
    </message>
    <message>
        <source>Chat models</source>
        <translation>对话模型</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>专用草稿模型</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>By size</source>
        <translation>按大小</translation>
    </message>
    <message>
        <source>By last use</source>
        <translation>按最近使用</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>排序</translation>
    </message>
    <message>
        <source>Runs on this Mac</source>
        <translation>仅显示这台 Mac 能运行的</translation>
    </message>
</context>
<context>
    <name>JumpButton</name>
    <message>
        <source>Jump to end</source>
        <translation>跳到末尾</translation>
    </message>
</context>
<context>
    <name>KeptWords</name>
    <message>
        <source>Quitting now may lose unsaved text.</source>
        <translation>现在退出可能会丢失未存储的文字。</translation>
    </message>
    <message>
        <source>Free some space and wait, or quit again.</source>
        <translation>请腾出空间并稍候，或再次退出。</translation>
    </message>
    <message>
        <source>Not everything is saved</source>
        <translation>尚有内容未存储</translation>
    </message>
    <message>
        <source>Kept in Recently Deleted for 30 days.</source>
        <translation>将在“最近删除”中保留 30 天。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) deleted.</source>
        <translation>
            <numerusform>已删除 %Ln 个对话。</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted “%1”.</source>
        <translation>已删除“%1”。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s) deleted.</source>
        <translation>
            <numerusform>已删除 %Ln 条消息。</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted the folder “%1”.</source>
        <translation>已删除文件夹“%1”。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved out of folders.</source>
        <translation>
            <numerusform>已将 %Ln 个对话移出文件夹。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved to “%1”.</source>
        <translation>
            <numerusform>已将 %Ln 个对话移到“%1”。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LendCard</name>
    <message>
        <source>%1 uses this Mac</source>
        <translation>%1 正在使用这台 Mac</translation>
    </message>
    <message>
        <source>%1 needs a model that is not on this Mac</source>
        <translation>%1 需要的模型不在这台 Mac 上</translation>
    </message>
    <message>
        <source>Pairing code</source>
        <translation>配对码</translation>
    </message>
    <message>
        <source>Lend memory to other Macs</source>
        <translation>借内存给其他 Mac</translation>
    </message>
    <message>
        <source>This Mac drafts for %1</source>
        <translation>正在为 %1 起草</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>立即停止</translation>
    </message>
    <message>
        <source>Show code</source>
        <translation>显示配对码</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>下载</translation>
    </message>
</context>
<context>
    <name>LicencesDialog</name>
    <message>
        <source>Licenses</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Everything that Hunch is built on</source>
        <translation>Hunch 所用的全部组件</translation>
    </message>
</context>
<context>
    <name>LinkDialog</name>
    <message>
        <source>Open %1?</source>
        <translation>要打开 %1 吗？</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>LongChatMenu</name>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>前面的 %Ln 条消息不再读取</numerusform>
        </translation>
    </message>
    <message>
        <source>Still read: the system prompt</source>
        <translation>仍会读取：系统提示词</translation>
    </message>
    <message>
        <source>Still read: the project&apos;s instructions</source>
        <translation>仍会读取：项目的指令</translation>
    </message>
    <message numerus="yes">
        <source>Still read: %Ln pinned message(s)</source>
        <translation>
            <numerusform>仍会读取：%Ln 条固定的消息</numerusform>
        </translation>
    </message>
    <message>
        <source>Pin a message to keep it</source>
        <translation>固定消息后会继续读取</translation>
    </message>
</context>
<context>
    <name>MAC_APPLICATION_MENU</name>
    <message>
        <source>Preferences...</source>
        <translation>设置…</translation>
    </message>
</context>
<context>
    <name>Machines</name>
    <message>
        <source>Faster is not possible with models of this family.</source>
        <translation>这个系列的模型无法更快。</translation>
    </message>
    <message>
        <source>Faster is not possible: the layers cannot be halved.</source>
        <translation>无法更快：这些层不能对半拆分。</translation>
    </message>
    <message>
        <source>Faster needs exactly two Macs.</source>
        <translation>要更快，需要正好两台 Mac。</translation>
    </message>
    <message>
        <source>Faster needs two Macs with the same chip.</source>
        <translation>要更快，两台 Mac 的芯片必须相同。</translation>
    </message>
    <message>
        <source>Faster needs the same version of macOS on both.</source>
        <translation>要更快，两台 Mac 的 macOS 版本必须相同。</translation>
    </message>
    <message>
        <source>Faster needs a Thunderbolt 5 cable, macOS 26.2, and “rdma_ctl enable” in Recovery on both.</source>
        <translation>要更快，需要雷雳 5 连接线和 macOS 26.2，并在两台 Mac 的恢复模式中运行“rdma_ctl enable”。</translation>
    </message>
    <message>
        <source>Faster needs room for half of the model on each.</source>
        <translation>要更快，每台 Mac 的内存都要能放下半个模型。</translation>
    </message>
    <message>
        <source>Together would be no faster: the exchange takes too long.</source>
        <translation>一起计算也一样：来回传输耗时太长。</translation>
    </message>
    <message>
        <source>The other Mac has stopped drafting.</source>
        <translation>另一台 Mac 停止了起草。</translation>
    </message>
    <message>
        <source>The other Mac no longer answers.</source>
        <translation>另一台 Mac 不再响应。</translation>
    </message>
    <message>
        <source>What the other Mac sent is no draft.</source>
        <translation>另一台 Mac 发来的不是草稿。</translation>
    </message>
    <message>
        <source>The other Mac cannot run this draft.</source>
        <translation>另一台 Mac 无法运行这个草稿模型。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>Up to %1 for paired Macs, at %2.</source>
        <translation>最多借出 %1 给已配对的 Mac，地址为 %2。</translation>
    </message>
    <message>
        <source>Lending ended by itself. It starts again soon.</source>
        <translation>借出已自行结束。稍后会自动重新开始。</translation>
    </message>
    <message>
        <source>Lends this Mac’s memory to Macs that you pair with it.</source>
        <translation>将这台 Mac 的内存借给与它配对的 Mac。</translation>
    </message>
    <message>
        <source>%1 · copied from %2, or from the hub if it does not answer</source>
        <translation>%1 · 从 %2 拷贝，没有响应时从 Hub 下载</translation>
    </message>
    <message>
        <source>Pairs one Mac, within two minutes.</source>
        <translation>两分钟内可配对一台 Mac。</translation>
    </message>
    <message>
        <source>Type it on the other Mac. %1 left.</source>
        <translation>请在另一台 Mac 上输入。剩余 %1。</translation>
    </message>
    <message>
        <source>May use this Mac.</source>
        <translation>可以使用这台 Mac。</translation>
    </message>
    <message>
        <source>was at %1</source>
        <translation>之前在 %1</translation>
    </message>
    <message>
        <source>%1 holds half of every layer.</source>
        <translation>每一层的一半位于 %1。</translation>
    </message>
    <message>
        <source>%1 holds some of its layers.</source>
        <translation>部分层位于 %1。</translation>
    </message>
    <message>
        <source>May use this Mac. Lends its memory, too: at %2, %3.</source>
        <translation>可以使用这台 Mac，也出借自己的内存：%2，%3。</translation>
    </message>
    <message>
        <source>Does not answer at %1, but at %2: %3.</source>
        <translation>在 %1 没有响应，但在 %2 有响应：%3。</translation>
    </message>
    <message>
        <source>%1 · %4. Sooner at %2: %3.</source>
        <translation>%1 · %4。更快的地址：%2，%3。</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 毫秒</translation>
    </message>
    <message>
        <source>Has an older version of Hunch. Update it there.</source>
        <translation>Hunch 版本较旧。请在那台 Mac 上更新。</translation>
    </message>
    <message>
        <source>Has a newer version of Hunch. Update it on this Mac.</source>
        <translation>Hunch 版本较新。请在这台 Mac 上更新。</translation>
    </message>
    <message>
        <source>Runs over both Macs now.</source>
        <translation>正在两台 Mac 上运行。</translation>
    </message>
    <message>
        <source>Not enough memory on %1.</source>
        <translation>内存不足：%1。</translation>
    </message>
    <message>
        <source>Fits, with room for a chat.</source>
        <translation>装得下，并留有对话所需的空间。</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Faster</source>
        <translation>更快</translation>
    </message>
    <message>
        <source>More room</source>
        <translation>更多内存</translation>
    </message>
    <message>
        <source>More room is not possible with models of this family.</source>
        <translation>这个系列的模型不能选择“更多内存”。</translation>
    </message>
    <message>
        <source>Where two words are as good as tied, the text may differ from one Mac’s.</source>
        <translation>当两个词的概率几乎相同时，文字可能与单台 Mac 生成的不同。</translation>
    </message>
    <message>
        <source>One Mac after the other: makes room, not speed.</source>
        <translation>两台 Mac 依次计算：可用内存更多，但不会更快。</translation>
    </message>
    <message>
        <source>RDMA lets the Mac at the other end of the cable write into part of this Mac’s memory, unencrypted.</source>
        <translation>打开 RDMA 后，连接线另一端的 Mac 可以不经加密直接写入这台 Mac 的一部分内存。</translation>
    </message>
    <message>
        <source>A token takes about %1 ms on one Mac; on both together half of that, and %2 ms for the exchange.</source>
        <translation>单台 Mac 上每个 token 约需 %1 毫秒；两台一起计算则需一半的时间，外加 %2 毫秒的传输。</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together.</source>
        <translation>两台 Mac 一起计算每一层。</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together, if that proves faster.</source>
        <translation>如果确认更快，两台 Mac 会一起计算每一层。</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together: faster.</source>
        <translation>两台 Mac 一起计算每一层，速度更快。</translation>
    </message>
    <message>
        <source>Settings → Other Macs there offers to download %1.</source>
        <translation>在那台 Mac 的“设置 → 其他 Mac”中可以下载 %1。</translation>
    </message>
    <message>
        <source>This Mac drafts meanwhile.</source>
        <translation>在此期间由这台 Mac 起草。</translation>
    </message>
    <message>
        <source>The loaded pair has no draft that another Mac can run.</source>
        <translation>当前的模型组合中没有其他 Mac 能运行的草稿模型。</translation>
    </message>
    <message>
        <source>Ready, with up to %1 of memory there.</source>
        <translation>已就绪，在那台 Mac 上最多占用 %1 内存。</translation>
    </message>
    <message>
        <source>%1 prepared</source>
        <translation>%1 已提前备好</translation>
    </message>
    <message>
        <source>%1 the speed without it</source>
        <translation>速度为不用它时的 %1</translation>
    </message>
    <message>
        <source>%1 late</source>
        <translation>迟到 %1 次</translation>
    </message>
    <message>
        <source>up to %1, %2 s of work there</source>
        <translation>在那台 Mac 上最多 %1、工作 %2 秒</translation>
    </message>
    <message>
        <source>%1: half of every layer, %2 of %3</source>
        <translation>%1：每一层的一半，%2（共 %3）</translation>
    </message>
    <message>
        <source>%1: layers %2–%3, %4 of %5</source>
        <translation>%1：第 %2–%3 层，%4（共 %5）</translation>
    </message>
    <message>
        <source>This Mac</source>
        <translation>这台 Mac</translation>
    </message>
</context>
<context>
    <name>MachinesPage</name>
    <message>
        <source>A model that is too large for this Mac runs over two that both have its files. Or another Mac drafts for this one. Experimental.</source>
        <translation>对这台 Mac 来说太大的模型，可以在两台都有模型文件的 Mac 上运行。或者由另一台 Mac 为这台 Mac 起草。实验性功能。</translation>
    </message>
    <message>
        <source>Paired Macs</source>
        <translation>已配对的 Mac</translation>
    </message>
    <message>
        <source>Nearby Macs</source>
        <translation>附近的 Mac</translation>
    </message>
    <message>
        <source>Pair with another Mac</source>
        <translation>与另一台 Mac 配对</translation>
    </message>
    <message>
        <source>Run over 2 Macs</source>
        <translation>在 2 台 Mac 上运行</translation>
    </message>
    <message>
        <source>Draft on another Mac</source>
        <translation>在其他 Mac 上起草</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>%1 will load after this reply.</source>
        <translation>此回复结束后加载 %1。</translation>
    </message>
    <message>
        <source>The model will unload after this reply.</source>
        <translation>此回复结束后卸载模型。</translation>
    </message>
    <message>
        <source>Stop Reply and Switch</source>
        <translation>停止回复并切换</translation>
    </message>
    <message>
        <source>Stop Reply and Unload</source>
        <translation>停止回复并卸载</translation>
    </message>
</context>
<context>
    <name>MenuBar</name>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>View</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>窗口</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>剪切</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>拷贝</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>粘贴</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>全选</translation>
    </message>
    <message>
        <source>New Chat</source>
        <translation>新建对话</translation>
    </message>
    <message>
        <source>Attach…</source>
        <translation>添加附件…</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>导入…</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>导出…</translation>
    </message>
    <message>
        <source>Export All…</source>
        <translation>导出全部…</translation>
    </message>
    <message>
        <source>Close Window</source>
        <translation>关闭窗口</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>设置…</translation>
    </message>
    <message>
        <source>Full Screen</source>
        <translation>全屏幕</translation>
    </message>
    <message>
        <source>Copy Diagnostics</source>
        <translation>拷贝诊断信息</translation>
    </message>
    <message>
        <source>About Hunch</source>
        <translation>关于 Hunch</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>退出 Hunch</translation>
    </message>
    <message>
        <source>Search Chats</source>
        <translation>搜索对话</translation>
    </message>
    <message>
        <source>Write Message</source>
        <translation>撰写消息</translation>
    </message>
    <message>
        <source>Larger Text</source>
        <translation>放大文字</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>新建文件夹</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>快速提问…</translation>
    </message>
    <message>
        <source>Paste and Match Style</source>
        <translation>粘贴并匹配样式</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
    <message>
        <source>Find in Chat…</source>
        <translation>在对话中查找…</translation>
    </message>
    <message>
        <source>Find Next</source>
        <translation>查找下一个</translation>
    </message>
    <message>
        <source>Find Previous</source>
        <translation>查找上一个</translation>
    </message>
    <message>
        <source>Use Selection for Find</source>
        <translation>使用所选内容查找</translation>
    </message>
    <message>
        <source>Command Palette…</source>
        <translation>命令面板…</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>侧边栏</translation>
    </message>
    <message>
        <source>Smaller Text</source>
        <translation>缩小文字</translation>
    </message>
    <message>
        <source>Actual Size</source>
        <translation>实际大小</translation>
    </message>
    <message>
        <source>Quote Selection</source>
        <translation>引用所选文字</translation>
    </message>
    <message>
        <source>New Prompt…</source>
        <translation>新建提示词…</translation>
    </message>
    <message>
        <source>Stop Reply</source>
        <translation>停止回复</translation>
    </message>
    <message>
        <source>Choose Models…</source>
        <translation>选择模型…</translation>
    </message>
    <message>
        <source>Next Chat</source>
        <translation>下一个对话</translation>
    </message>
    <message>
        <source>Previous Chat</source>
        <translation>上一个对话</translation>
    </message>
    <message>
        <source>Rename Chat…</source>
        <translation>重命名对话…</translation>
    </message>
    <message>
        <source>Pin or Unpin Chat</source>
        <translation>置顶或取消置顶对话</translation>
    </message>
    <message>
        <source>Duplicate Chat</source>
        <translation>创建对话副本</translation>
    </message>
    <message>
        <source>Move Chat to</source>
        <translation>将对话移到</translation>
    </message>
    <message>
        <source>Delete Chat</source>
        <translation>删除对话</translation>
    </message>
    <message>
        <source>Recently Deleted</source>
        <translation>最近删除</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>消息</translation>
    </message>
    <message>
        <source>Minimize</source>
        <translation>最小化</translation>
    </message>
    <message>
        <source>Zoom</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>Show Chat Window</source>
        <translation>显示对话窗口</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>活动</translation>
    </message>
    <message>
        <source>Bring All to Front</source>
        <translation>前置全部窗口</translation>
    </message>
    <message>
        <source>Hunch Help</source>
        <translation>Hunch 帮助</translation>
    </message>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Show Log</source>
        <translation>显示日志</translation>
    </message>
</context>
<context>
    <name>MenuButton</name>
    <message>
        <source>Menu</source>
        <translation>菜单</translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message numerus="yes">
        <source>Delete this and %Ln later message(s)?</source>
        <translation>
            <numerusform>要删除此消息及其后的 %Ln 条消息吗？</numerusform>
        </translation>
    </message>
    <message>
        <source>Kept in Recently Deleted for 30 days.</source>
        <translation>将在“最近删除”中保留 30 天。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>MessageActs</name>
    <message>
        <source>Copy as Markdown</source>
        <translation>拷贝为 Markdown</translation>
    </message>
    <message>
        <source>Copy as JSON</source>
        <translation>拷贝为 JSON</translation>
    </message>
    <message>
        <source>Copy as Plain Text</source>
        <translation>拷贝为纯文本</translation>
    </message>
    <message>
        <source>Copy as CSV</source>
        <translation>拷贝为 CSV</translation>
    </message>
    <message>
        <source>Show as Table</source>
        <translation>以表格显示</translation>
    </message>
    <message>
        <source>Show as Tree</source>
        <translation>以树状显示</translation>
    </message>
    <message>
        <source>Show JSON</source>
        <translation>显示 JSON</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>重新生成</translation>
    </message>
    <message>
        <source>Generate Reply</source>
        <translation>生成回复</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续生成</translation>
    </message>
    <message>
        <source>Show in Inspector</source>
        <translation>在检查器中显示</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>竞速…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消固定</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>New Chat from Here</source>
        <translation>从此处新建对话</translation>
    </message>
    <message>
        <source>Insert Before</source>
        <translation>在前面插入</translation>
    </message>
    <message>
        <source>Insert After</source>
        <translation>在后面插入</translation>
    </message>
    <message>
        <source>Change to My Message</source>
        <translation>改为我的消息</translation>
    </message>
    <message>
        <source>Change to Model&apos;s Reply</source>
        <translation>改为模型的回复</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete This and Later Messages…</source>
        <translation>删除此消息及后续消息…</translation>
    </message>
</context>
<context>
    <name>MessageFooter</name>
    <message>
        <source>Previous version</source>
        <translation>上一个版本</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>下一个版本</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>拷贝消息</translation>
    </message>
    <message>
        <source>Edit message</source>
        <translation>编辑消息</translation>
    </message>
    <message>
        <source>Continue reply</source>
        <translation>继续生成这条回复</translation>
    </message>
    <message>
        <source>Regenerate reply</source>
        <translation>重新生成这条回复</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>删除消息</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>已固定</translation>
    </message>
</context>
<context>
    <name>Messages</name>
    <message>
        <source>Something went wrong</source>
        <translation>出了问题</translation>
    </message>
    <message>
        <source>Unknown error.</source>
        <translation>未知错误。</translation>
    </message>
    <message>
        <source>Model not found</source>
        <translation>找不到模型</translation>
    </message>
    <message>
        <source>No model in %1.</source>
        <translation>%1 中没有模型。</translation>
    </message>
    <message>
        <source>Moved, deleted, or its disk is not connected.</source>
        <translation>它已被移动或删除，或者所在磁盘未连接。</translation>
    </message>
    <message>
        <source>Weights missing</source>
        <translation>缺少权重</translation>
    </message>
    <message>
        <source>%1 has no safetensors weights.</source>
        <translation>%1 没有 safetensors 权重。</translation>
    </message>
    <message>
        <source>A file of %1 is damaged.</source>
        <translation>%1 的文件已损坏。</translation>
    </message>
    <message>
        <source>Model damaged</source>
        <translation>模型已损坏</translation>
    </message>
    <message>
        <source>Delete and reinstall it.</source>
        <translation>请删除后重新安装。</translation>
    </message>
    <message>
        <source>MLX cannot run %1 (“%2”) yet.</source>
        <translation>%1 的架构“%2”目前还不能用 MLX 运行。</translation>
    </message>
    <message>
        <source>%1 names no architecture.</source>
        <translation>%1 的配置没有写明架构。</translation>
    </message>
    <message>
        <source>Model not supported</source>
        <translation>不支持的模型</translation>
    </message>
    <message>
        <source>%1 brings its own code, which Hunch never runs.</source>
        <translation>%1 自带代码，Hunch 不会运行。</translation>
    </message>
    <message>
        <source>Model refused</source>
        <translation>无法使用该模型</translation>
    </message>
    <message>
        <source>%1 has an unusable tokenizer.</source>
        <translation>%1 的分词器无法使用。</translation>
    </message>
    <message>
        <source>Tokenizer broken</source>
        <translation>分词器已损坏</translation>
    </message>
    <message>
        <source>%1 needs %2 of memory; %3 is available.</source>
        <translation>%1 需要 %2 内存，可用 %3。</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>内存不足</translation>
    </message>
    <message>
        <source>Choose a smaller model, or fewer bits.</source>
        <translation>请选择更小的模型或更低的位数。</translation>
    </message>
    <message>
        <source>You chose another model before %1 loaded.</source>
        <translation>%1 加载完成前已选择了其他模型。</translation>
    </message>
    <message>
        <source>Loading stopped</source>
        <translation>加载已停止</translation>
    </message>
    <message>
        <source>The disk with %1 cannot lock files.</source>
        <translation>%1 所在的磁盘无法锁定文件。</translation>
    </message>
    <message>
        <source>Move this folder to another disk.</source>
        <translation>请将此文件夹移到其他磁盘。</translation>
    </message>
    <message>
        <source>No config.json</source>
        <translation>模型缺少 config.json</translation>
    </message>
    <message>
        <source>%1 has no config.json.</source>
        <translation>%1 没有 config.json。</translation>
    </message>
    <message>
        <source>Add its config.json and tokenizer.</source>
        <translation>请添加其 config.json 和分词器。</translation>
    </message>
    <message>
        <source>Choose its MLX version, or reinstall it.</source>
        <translation>请选择适用于 MLX 的版本，或重新安装。</translation>
    </message>
    <message>
        <source>Different vocabulary</source>
        <translation>词表不同</translation>
    </message>
    <message>
        <source>Choose a small draft of the same family.</source>
        <translation>请选择同系列的小型草稿模型。</translation>
    </message>
    <message>
        <source>The same tokens mean different text.</source>
        <translation>同样的 token 代表不同的文字。</translation>
    </message>
    <message>
        <source>Same model twice</source>
        <translation>两者是同一个模型</translation>
    </message>
    <message>
        <source>A model cannot guess faster than itself.</source>
        <translation>模型不可能猜得比自己更快。</translation>
    </message>
    <message>
        <source>Too large: %1, main model %2.</source>
        <translation>过大：%1，主模型为 %2。</translation>
    </message>
    <message>
        <source>Draft too large</source>
        <translation>草稿模型过大</translation>
    </message>
    <message>
        <source>A fifth or less works well.</source>
        <translation>最好不超过其五分之一。</translation>
    </message>
    <message>
        <source>“%1” drafts cannot undo wrong guesses.</source>
        <translation>“%1”类型的草稿模型无法撤回猜错的内容。</translation>
    </message>
    <message>
        <source>Cannot draft</source>
        <translation>不能用作草稿模型</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <source>Choose a main model.</source>
        <translation>请选择主模型。</translation>
    </message>
    <message>
        <source>Nothing to reply to</source>
        <translation>没有可回复的内容</translation>
    </message>
    <message>
        <source>This chat is empty.</source>
        <translation>这个对话是空的。</translation>
    </message>
    <message>
        <source>Write something first.</source>
        <translation>请先写点内容。</translation>
    </message>
    <message>
        <source>%1 is set to %2; allowed: %3.</source>
        <translation>%1 设为 %2，允许的值为 %3。</translation>
    </message>
    <message>
        <source>Setting out of range</source>
        <translation>设置超出范围</translation>
    </message>
    <message>
        <source>This chat has %1 tokens; the model holds %2.</source>
        <translation>这个对话有 %1 个 token，模型最多容纳 %2 个。</translation>
    </message>
    <message>
        <source>Chat template failed</source>
        <translation>对话模板出错</translation>
    </message>
    <message>
        <source>The model could not format this chat.</source>
        <translation>无法把这个对话转换成模型的格式。</translation>
    </message>
    <message>
        <source>Repository not found</source>
        <translation>找不到仓库</translation>
    </message>
    <message>
        <source>%1 is not on the hub.</source>
        <translation>Hub 上没有 %1。</translation>
    </message>
    <message>
        <source>Check the spelling. Private ones need a token.</source>
        <translation>请检查拼写。私有仓库需要令牌。</translation>
    </message>
    <message>
        <source>%1 has terms to accept.</source>
        <translation>需要先接受 %1 的条款。</translation>
    </message>
    <message>
        <source>Accept them on its page, then add your token in Settings.</source>
        <translation>请在其页面上接受，然后在设置中填写令牌。</translation>
    </message>
    <message>
        <source>Add a token with read access.</source>
        <translation>请填写有读取权限的令牌。</translation>
    </message>
    <message>
        <source>No access</source>
        <translation>没有访问权限</translation>
    </message>
    <message>
        <source>Hub not reachable</source>
        <translation>无法连接 Hub</translation>
    </message>
    <message>
        <source>%1 not found. This Mac may be offline.</source>
        <translation>找不到 %1。这台 Mac 可能处于离线状态。</translation>
    </message>
    <message>
        <source>Check your connection and the hub address.</source>
        <translation>请检查网络连接和 Hub 地址。</translation>
    </message>
    <message>
        <source>Check your connection. Downloaded data is kept.</source>
        <translation>请检查网络，已下载的部分会保留。</translation>
    </message>
    <message>
        <source>Hub not trusted</source>
        <translation>Hub 不可信</translation>
    </message>
    <message>
        <source>Check the hub address in Settings.</source>
        <translation>请在设置中检查 Hub 地址。</translation>
    </message>
    <message>
        <source>Download damaged</source>
        <translation>下载的文件已损坏</translation>
    </message>
    <message>
        <source>%1 failed its checksum and was discarded.</source>
        <translation>%1 与校验和不符，已丢弃。</translation>
    </message>
    <message>
        <source>%1 has no MLX weights, only %2.</source>
        <translation>%1 没有 MLX 权重，只有 %2。</translation>
    </message>
    <message>
        <source>%1 has no MLX weights.</source>
        <translation>%1 没有 MLX 权重。</translation>
    </message>
    <message>
        <source>Nothing to install</source>
        <translation>没有可安装的内容</translation>
    </message>
    <message>
        <source>Look for it at mlx-community.</source>
        <translation>请在 mlx-community 查找。</translation>
    </message>
    <message>
        <source>%1 needs %2 of disk space; %3 is free.</source>
        <translation>%1 需要 %2 磁盘空间，可用 %3。</translation>
    </message>
    <message>
        <source>Not enough disk space</source>
        <translation>磁盘空间不足</translation>
    </message>
    <message>
        <source>Invalid model output</source>
        <translation>模型输出无效</translation>
    </message>
    <message>
        <source>The weights of %1 may be damaged.</source>
        <translation>%1 的权重可能已损坏。</translation>
    </message>
    <message>
        <source>Reinstall it, or choose another model.</source>
        <translation>请重新安装，或选择其他模型。</translation>
    </message>
    <message>
        <source>Choose another model family.</source>
        <translation>请选择其他系列的模型。</translation>
    </message>
    <message>
        <source>Draft model not supported</source>
        <translation>不支持的草稿模型</translation>
    </message>
    <message>
        <source>%1 needs “%2”, which Hunch lacks.</source>
        <translation>%1 需要“%2”，Hunch 目前还无法计算。</translation>
    </message>
    <message>
        <source>Not a chat model</source>
        <translation>不是对话模型</translation>
    </message>
    <message>
        <source>%1 only drafts for other models.</source>
        <translation>%1 只能为其他模型提供草稿。</translation>
    </message>
    <message>
        <source>Use it as a draft.</source>
        <translation>请把它用作草稿模型。</translation>
    </message>
    <message>
        <source>Close other apps, or choose a smaller model.</source>
        <translation>请关闭其他应用，或选择更小的模型。</translation>
    </message>
    <message>
        <source>Main model in use</source>
        <translation>主模型正在使用中</translation>
    </message>
    <message>
        <source>%1 was not loaded: another model is writing.</source>
        <translation>正在使用另一个主模型生成回复，因此未加载 %1。</translation>
    </message>
    <message>
        <source>Wait, or stop it.</source>
        <translation>请等待完成，或停止生成。</translation>
    </message>
    <message>
        <source>Different vocabularies (%1 and %2 tokens).</source>
        <translation>词表不同（%1 个和 %2 个 token）。</translation>
    </message>
    <message>
        <source>Made for another model</source>
        <translation>专为其他模型制作</translation>
    </message>
    <message>
        <source>Choose one made for this model.</source>
        <translation>请选择专为这个主模型制作的草稿模型。</translation>
    </message>
    <message>
        <source>It needs keys and values this model lacks.</source>
        <translation>它需要读取的键和值，这个模型没有。</translation>
    </message>
    <message>
        <source>No drafters for this model</source>
        <translation>此模型无法使用专用草稿模型</translation>
    </message>
    <message>
        <source>Drafters need hidden states this model lacks.</source>
        <translation>专用草稿模型要读取隐藏状态，而此模型不提供。</translation>
    </message>
    <message>
        <source>Drafter misread</source>
        <translation>草稿模型的读取方式有误</translation>
    </message>
    <message>
        <source>Read another way, it guesses better.</source>
        <translation>换一种方式读取其文件时，它的猜测更常正确。</translation>
    </message>
    <message>
        <source>Replies are unaffected.</source>
        <translation>回复不受影响。</translation>
    </message>
    <message>
        <source>Only %1 tokens per pass in a test.</source>
        <translation>测试中每轮只有 %1 个 token。</translation>
    </message>
    <message>
        <source>Model cannot see pictures</source>
        <translation>此模型无法识别图片</translation>
    </message>
    <message>
        <source>Pictures stay in this chat.</source>
        <translation>图片会保留在对话中。</translation>
    </message>
    <message>
        <source>Not enough memory for this picture</source>
        <translation>内存不足，无法查看此图片</translation>
    </message>
    <message>
        <source>Lower the picture detail, or close other apps.</source>
        <translation>请降低图片细节，或关闭其他应用。</translation>
    </message>
    <message>
        <source>Start with your own message, or remove the system prompt.</source>
        <translation>请以你的消息开头，或删除系统提示词。</translation>
    </message>
    <message>
        <source>Over several Macs, %1 (“%2”) cannot take back drafts that were rejected.</source>
        <translation>在多台 Mac 上，%1（“%2”）无法回退被拒绝的草稿。</translation>
    </message>
    <message>
        <source>%1 (“%2”) divides into equal parts only.</source>
        <translation>%1（“%2”）只能平均拆分。</translation>
    </message>
    <message>
        <source>%1 (“%2”) has not been tried over several Macs yet.</source>
        <translation>%1（“%2”）尚未在多台 Mac 上试过。</translation>
    </message>
    <message>
        <source>%1, which has some of its layers, no longer answers.</source>
        <translation>承担部分层的 %1 不再响应。</translation>
    </message>
    <message>
        <source>The other Mac has stopped lending</source>
        <translation>另一台 Mac 已停止借出</translation>
    </message>
    <message>
        <source>Wait ten minutes, or turn Lend memory to other Macs off and on there.</source>
        <translation>请等待 10 分钟，或在那台 Mac 上关闭再打开“借内存给其他 Mac”。</translation>
    </message>
    <message>
        <source>Try again when it is back, or run the model on this Mac alone.</source>
        <translation>等它恢复后重试，或仅在这台 Mac 上运行该模型。</translation>
    </message>
    <message>
        <source>The chat file in %1 was replaced by another one.</source>
        <translation>%1 中的对话文件已被另一个文件替换。</translation>
    </message>
    <message>
        <source>Quit Hunch and open it again.</source>
        <translation>请退出 Hunch 后重新打开。</translation>
    </message>
    <message>
        <source>MLX cannot load %1.</source>
        <translation>MLX 无法加载 %1。</translation>
    </message>
    <message>
        <source>MLX cannot read the weights of %1 (“%2”).</source>
        <translation>MLX 无法读取 %1 的权重“%2”。</translation>
    </message>
    <message>
        <source>This chat no longer fits</source>
        <translation>对话已放不下</translation>
    </message>
    <message>
        <source>Go on without the oldest messages, or start a new chat.</source>
        <translation>略去最早的消息继续，或新建对话。</translation>
    </message>
    <message>
        <source>Too long to read</source>
        <translation>太长，无法读取</translation>
    </message>
    <message>
        <source>What must be read has %1 tokens; the model holds %2.</source>
        <translation>必须读取的部分有 %1 个 token，模型只能容纳 %2 个。</translation>
    </message>
    <message>
        <source>Shorten the message or the instructions, unpin messages, or choose a longer-context model.</source>
        <translation>请缩短消息或指令、取消固定消息，或选择上下文更长的模型。</translation>
    </message>
    <message>
        <source>%1 (“%2”) runs only over two Macs of one chip, on a Thunderbolt 5 cable.</source>
        <translation>%1（“%2”）只能在两台芯片相同、用雷雳 5 连接线相连的 Mac 上分开运行。</translation>
    </message>
    <message>
        <source>%1 could not run its layers.</source>
        <translation>%1 无法运行其承担的层。</translation>
    </message>
    <message>
        <source>%1 has too little free memory for its layers.</source>
        <translation>%1 的可用内存不足以存放其承担的层。</translation>
    </message>
    <message>
        <source>Close other apps there, or choose a smaller model.</source>
        <translation>请在那里关闭其他应用，或选择更小的模型。</translation>
    </message>
    <message>
        <source>A process could not run its layers.</source>
        <translation>一个进程无法运行其负责的层。</translation>
    </message>
    <message>
        <source>The other Mac is out of reach</source>
        <translation>无法连接另一台 Mac</translation>
    </message>
    <message>
        <source>Nothing answers at %1.</source>
        <translation>%1 没有响应。</translation>
    </message>
    <message>
        <source>Check that it is awake, in this network, with Lend memory to other Macs on.</source>
        <translation>请确认那台 Mac 已唤醒、在同一网络中，并且打开了“借内存给其他 Mac”。</translation>
    </message>
    <message>
        <source>This Mac finds no way to %1.</source>
        <translation>这台 Mac 找不到通往 %1 的路径。</translation>
    </message>
    <message>
        <source>Check that it is awake and in this network, and allow Hunch in System Settings → Privacy &amp; Security → Local Network.</source>
        <translation>请确认那台 Mac 已唤醒且在同一网络中，并在“系统设置 → 隐私与安全性 → 本地网络”中允许 Hunch。</translation>
    </message>
    <message>
        <source>No longer paired</source>
        <translation>已不再配对</translation>
    </message>
    <message>
        <source>The Mac at %1 does not know this one.</source>
        <translation>%1 的 Mac 不认识这台 Mac。</translation>
    </message>
    <message>
        <source>Remove it here, then pair again.</source>
        <translation>请先在这里移除，再重新配对。</translation>
    </message>
    <message>
        <source>No pairing code</source>
        <translation>没有配对码</translation>
    </message>
    <message>
        <source>The Mac at %1 shows no code, or it has run out.</source>
        <translation>%1 的 Mac 没有显示配对码，或配对码已过期。</translation>
    </message>
    <message>
        <source>Show a new code there.</source>
        <translation>请在那台 Mac 上显示新的配对码。</translation>
    </message>
    <message>
        <source>Wrong code</source>
        <translation>配对码错误</translation>
    </message>
    <message>
        <source>The Mac at %1 shows another code.</source>
        <translation>与 %1 的 Mac 上显示的配对码不同。</translation>
    </message>
    <message>
        <source>Type its eight digits again. After five tries it needs a new code.</source>
        <translation>请重新输入八位数字。输错五次后需要新的配对码。</translation>
    </message>
    <message>
        <source>The other Mac is in use</source>
        <translation>另一台 Mac 正在使用中</translation>
    </message>
    <message>
        <source>The other Mac lends to %1 now.</source>
        <translation>那台 Mac 正在借内存给 %1。</translation>
    </message>
    <message>
        <source>Wait, or press Stop now there.</source>
        <translation>请等待，或在那台 Mac 上按“立即停止”。</translation>
    </message>
    <message>
        <source>Stop now was pressed on the Mac at %1.</source>
        <translation>%1 的 Mac 上按下了“立即停止”。</translation>
    </message>
    <message>
        <source>The Mac at %1 now lends less than this model needs there.</source>
        <translation>%1 的 Mac 现在借出的内存少于该模型在那里所需的内存。</translation>
    </message>
    <message>
        <source>Model missing on the other Mac</source>
        <translation>另一台 Mac 上没有该模型</translation>
    </message>
    <message>
        <source>The Mac at %1 has no model with the same files.</source>
        <translation>%1 的 Mac 上没有文件相同的模型。</translation>
    </message>
    <message>
        <source>Install the same model there.</source>
        <translation>请在那台 Mac 上安装相同的模型。</translation>
    </message>
    <message>
        <source>The Mac at %1 has an older version than this one: %2.</source>
        <translation>%1 的 Mac 上的版本比这台旧：%2。</translation>
    </message>
    <message>
        <source>Update Hunch there.</source>
        <translation>请在那台 Mac 上更新 Hunch。</translation>
    </message>
    <message>
        <source>The Mac at %1 has a newer version than this one: %2.</source>
        <translation>%1 的 Mac 上的版本比这台新：%2。</translation>
    </message>
    <message>
        <source>Update Hunch on this Mac.</source>
        <translation>请在这台 Mac 上更新 Hunch。</translation>
    </message>
    <message>
        <source>Model differs on the other Mac</source>
        <translation>另一台 Mac 上的模型不同</translation>
    </message>
    <message>
        <source>The Mac at %1 has the same version of it with other contents.</source>
        <translation>%1 的 Mac 上有版本相同但内容不同的模型。</translation>
    </message>
    <message>
        <source>Verify it on both Macs, under Models, and repair the one that is damaged.</source>
        <translation>请在两台 Mac 的“模型”中校验，并修复已损坏的一方。</translation>
    </message>
    <message>
        <source>The Mac at %1 answers in another way.</source>
        <translation>%1 的 Mac 以不同的方式响应。</translation>
    </message>
    <message>
        <source>Install the same version of Hunch on both.</source>
        <translation>请在两台 Mac 上安装相同版本的 Hunch。</translation>
    </message>
    <message>
        <source>It expects %1 layers; this model has %2.</source>
        <translation>它需要 %1 层，而这个模型有 %2 层。</translation>
    </message>
    <message>
        <source>Only %1 of %2 tokens match; nine in ten must.</source>
        <translation>%2 个 token 中只有 %1 个相同，至少需要九成。</translation>
    </message>
    <message>
        <source>It expects width %1; this model has %2.</source>
        <translation>它需要宽度 %1，而这个模型的宽度是 %2。</translation>
    </message>
    <message>
        <source>It expects %1 vocabulary tokens; this model has %2.</source>
        <translation>它适用于词表为 %1 个 token 的模型，而这个模型有 %2 个。</translation>
    </message>
    <message>
        <source>Drafter hardly helps</source>
        <translation>草稿模型几乎没有帮助</translation>
    </message>
    <message>
        <source>It may be for another model.</source>
        <translation>它可能是为其他模型制作的。</translation>
    </message>
    <message>
        <source>%1 is private or closed to this token.</source>
        <translation>%1 是私有仓库，或此令牌没有访问权限。</translation>
    </message>
    <message>
        <source>%1 is not a hub address.</source>
        <translation>%1 不是 Hub 地址。</translation>
    </message>
    <message>
        <source>No connection to %1.</source>
        <translation>无法连接到 %1。</translation>
    </message>
    <message>
        <source>%1 refused the connection.</source>
        <translation>%1 拒绝了连接。</translation>
    </message>
    <message>
        <source>%1 did not answer.</source>
        <translation>%1 没有响应。</translation>
    </message>
    <message>
        <source>%1 has an untrusted certificate.</source>
        <translation>%1 的证书不受信任。</translation>
    </message>
    <message>
        <source>Check this Mac&apos;s date, network and hub address.</source>
        <translation>请检查这台 Mac 的日期、网络和 Hub 地址。</translation>
    </message>
    <message>
        <source>The proxy does not reach %1.</source>
        <translation>代理无法连接到 %1。</translation>
    </message>
    <message>
        <source>Check the proxy in Settings.</source>
        <translation>请检查设置中的代理。</translation>
    </message>
    <message>
        <source>%1 is busy.</source>
        <translation>%1 繁忙。</translation>
    </message>
    <message>
        <source>Try again later. Downloaded data is kept.</source>
        <translation>请稍后重试，已下载的部分会保留。</translation>
    </message>
    <message>
        <source>Connection to %1 lost.</source>
        <translation>与 %1 的连接中断了。</translation>
    </message>
    <message>
        <source>Offline mode is on</source>
        <translation>离线模式已打开</translation>
    </message>
    <message>
        <source>Offline mode blocks the hub.</source>
        <translation>离线模式下不会访问 Hub。</translation>
    </message>
    <message>
        <source>Turn it off in Settings.</source>
        <translation>请在设置中关闭。</translation>
    </message>
    <message>
        <source>Search not available</source>
        <translation>无法搜索</translation>
    </message>
    <message>
        <source>%1 cannot be searched.</source>
        <translation>无法在 %1 中搜索。</translation>
    </message>
    <message>
        <source>Enter a repository name.</source>
        <translation>请输入仓库名称。</translation>
    </message>
    <message>
        <source>Invalid response from the hub.</source>
        <translation>Hub 返回了无效的响应。</translation>
    </message>
    <message>
        <source>Token not sent</source>
        <translation>未发送令牌</translation>
    </message>
    <message>
        <source>%1 is not encrypted: others could read it.</source>
        <translation>%1 未加密，他人可能读到令牌。</translation>
    </message>
    <message>
        <source>Use https, or allow it in Settings.</source>
        <translation>请使用 https，或在设置中允许。</translation>
    </message>
    <message>
        <source>%1 has only drafters, in folders: %2.</source>
        <translation>%1 中没有模型，只有文件夹里的专用草稿模型：%2。</translation>
    </message>
    <message>
        <source>Install one by name.</source>
        <translation>请按名称安装其中一个。</translation>
    </message>
    <message>
        <source>File missing</source>
        <translation>Hub 上缺少文件</translation>
    </message>
    <message>
        <source>The hub lacks %1 of %2.</source>
        <translation>Hub 上没有 %2 的 %1。</translation>
    </message>
    <message>
        <source>File not usable</source>
        <translation>文件不可用</translation>
    </message>
    <message>
        <source>%1 of %2 has %3; limit: %4.</source>
        <translation>%2 的 %1 大小为 %3，上限为 %4。</translation>
    </message>
    <message>
        <source>%1 of %2 is damaged on the hub.</source>
        <translation>Hub 上 %2 的 %1 已损坏。</translation>
    </message>
    <message>
        <source>%1 lacks: %2.</source>
        <translation>%1 缺少所需的文件：%2。</translation>
    </message>
    <message>
        <source>%1 needs %2; of %3 free, other downloads need %4.</source>
        <translation>%1 需要 %2 磁盘空间。可用 %3，但其中 %4 要留给其他下载。</translation>
    </message>
    <message>
        <source>Cancel a download, or delete a model.</source>
        <translation>请取消一个下载，或删除一个模型。</translation>
    </message>
    <message>
        <source>Delete a model.</source>
        <translation>请删除一个模型。</translation>
    </message>
    <message>
        <source>Models folder not usable</source>
        <translation>模型文件夹无法使用</translation>
    </message>
    <message>
        <source>Another copy of Hunch is installing %1.</source>
        <translation>另一个 Hunch 正在安装 %1。</translation>
    </message>
    <message>
        <source>%1 is a file, not a folder.</source>
        <translation>%1 是文件，不是文件夹。</translation>
    </message>
    <message>
        <source>Move the file.</source>
        <translation>请移走该文件。</translation>
    </message>
    <message>
        <source>%1 cannot be written to.</source>
        <translation>无法写入 %1。</translation>
    </message>
    <message>
        <source>Connect its disk, or allow writing.</source>
        <translation>请连接磁盘，或允许写入。</translation>
    </message>
    <message>
        <source>Not deleted</source>
        <translation>未能删除</translation>
    </message>
    <message>
        <source>%1 is part of Hunch.</source>
        <translation>%1 是 Hunch 自带的，无法删除。</translation>
    </message>
    <message>
        <source>%1 is writing a reply. Stop it first.</source>
        <translation>正在用 %1 生成回复。请先停止。</translation>
    </message>
    <message>
        <source>Another app installed %1. Delete it there.</source>
        <translation>%1 由其他应用安装，请在该应用中删除。</translation>
    </message>
    <message>
        <source>The disk with %1 is read-only.</source>
        <translation>%1 所在的磁盘是只读的。</translation>
    </message>
    <message>
        <source>Another program is using %1.</source>
        <translation>其他程序正在使用 %1。</translation>
    </message>
    <message>
        <source>%1 could not be deleted.</source>
        <translation>无法删除 %1。</translation>
    </message>
    <message>
        <source>Model files changed</source>
        <translation>模型文件已更改</translation>
    </message>
    <message>
        <source>The files of %1 have changed.</source>
        <translation>%1 的文件已更改。</translation>
    </message>
    <message>
        <source>Choose a model that can.</source>
        <translation>请选择可识别图片的模型。</translation>
    </message>
    <message>
        <source>Model cannot be divided</source>
        <translation>模型无法拆分</translation>
    </message>
    <message>
        <source>The layers of %1 (“%2”) cannot run apart from each other.</source>
        <translation>%1（“%2”）的各层无法分开运行。</translation>
    </message>
    <message>
        <source>The two Macs do not match</source>
        <translation>两台 Mac 不一致</translation>
    </message>
    <message>
        <source>They have different versions of Hunch, or of the model.</source>
        <translation>Hunch 或模型的版本不同。</translation>
    </message>
    <message>
        <source>Install the same on both.</source>
        <translation>请在两台上安装相同的版本。</translation>
    </message>
    <message>
        <source>Part of the model is gone</source>
        <translation>模型的一部分已丢失</translation>
    </message>
    <message>
        <source>A process with some of its layers no longer answers.</source>
        <translation>负责其中一部分层的进程不再响应。</translation>
    </message>
    <message>
        <source>Load the model again.</source>
        <translation>请重新加载模型。</translation>
    </message>
    <message>
        <source>Not enough memory on the other Mac</source>
        <translation>另一台 Mac 内存不足</translation>
    </message>
    <message>
        <source>Unload the model that is loaded there, or choose a smaller one.</source>
        <translation>请卸载那台 Mac 上已加载的模型，或选择更小的模型。</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>内存耗尽</translation>
    </message>
    <message>
        <source>Engine closed</source>
        <translation>引擎已关闭</translation>
    </message>
    <message>
        <source>Hunch was quitting.</source>
        <translation>Hunch 正在退出。</translation>
    </message>
    <message>
        <source>Reopen Hunch to continue.</source>
        <translation>请重新打开 Hunch 以继续。</translation>
    </message>
    <message>
        <source>MLX cannot be loaded</source>
        <translation>无法加载 MLX</translation>
    </message>
    <message>
        <source>Not installed; this is %1.</source>
        <translation>MLX 未安装，本机为 %1。</translation>
    </message>
    <message>
        <source>Reinstall Hunch.</source>
        <translation>请重新安装 Hunch。</translation>
    </message>
    <message>
        <source>Installed for %2; this is %1.</source>
        <translation>已安装的版本适用于 %2，而本机为 %1。</translation>
    </message>
    <message>
        <source>Update macOS, or reinstall Hunch.</source>
        <translation>请更新 macOS，或重新安装 Hunch。</translation>
    </message>
    <message>
        <source>Something went wrong in Hunch</source>
        <translation>Hunch 出了问题</translation>
    </message>
    <message>
        <source>This is a bug.</source>
        <translation>这是 Hunch 的错误。</translation>
    </message>
    <message>
        <source>See the log.</source>
        <translation>详情见日志。</translation>
    </message>
    <message>
        <source>Not saved; your text is kept</source>
        <translation>未存储，文字已保留</translation>
    </message>
    <message>
        <source>The disk with %1 is full.</source>
        <translation>%1 所在的磁盘空间已满。</translation>
    </message>
    <message>
        <source>Free some space.</source>
        <translation>请腾出空间。</translation>
    </message>
    <message>
        <source>Another program locked your chats.</source>
        <translation>另一个程序锁定了对话文件。</translation>
    </message>
    <message>
        <source>Close that program.</source>
        <translation>请关闭那个程序。</translation>
    </message>
    <message>
        <source>No permission to write to %1.</source>
        <translation>Hunch 没有写入 %1 的权限。</translation>
    </message>
    <message>
        <source>Allow access.</source>
        <translation>请授予权限。</translation>
    </message>
    <message>
        <source>Check the disk.</source>
        <translation>请检查磁盘。</translation>
    </message>
    <message>
        <source>Chats cannot be opened</source>
        <translation>无法打开对话</translation>
    </message>
    <message>
        <source>The chat file in %1 is unreadable, but unchanged.</source>
        <translation>无法读取 %1 中的对话文件。文件未作更改。</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Choose a draft</source>
        <translation>选择草稿模型</translation>
    </message>
    <message>
        <source>Open Models</source>
        <translation>打开模型</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>打开设置</translation>
    </message>
    <message>
        <source>Install a model</source>
        <translation>安装模型</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>继续生成</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新建对话</translation>
    </message>
    <message>
        <source>Go on without them</source>
        <translation>不带图片继续</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>为此组合关闭</translation>
    </message>
    <message>
        <source>Drafting is off.</source>
        <translation>草稿模型已关闭。</translation>
    </message>
    <message>
        <source>No draft loaded.</source>
        <translation>没有加载草稿模型。</translation>
    </message>
    <message>
        <source>The draft is still reading the chat.</source>
        <translation>草稿模型还在读取对话。</translation>
    </message>
    <message>
        <source>Paused: drafting would be slower.</source>
        <translation>已暂停：使用草稿模型会更慢。</translation>
    </message>
    <message>
        <source>Drafting pauses while several replies are written.</source>
        <translation>同时生成多条回复时，草稿模型暂停工作。</translation>
    </message>
    <message>
        <source>No drafting: this model&apos;s cache cannot be rolled back.</source>
        <translation>此模型的缓存无法回退，不支持使用草稿模型。</translation>
    </message>
    <message>
        <source>The draft failed; the main model finished alone.</source>
        <translation>草稿模型出错，由主模型单独完成。</translation>
    </message>
    <message>
        <source>The starter pair knows only Hunch</source>
        <translation>入门模型只了解 Hunch</translation>
    </message>
    <message>
        <source>For anything else, install a larger model.</source>
        <translation>想聊其他话题，请安装更大的模型。</translation>
    </message>
    <message>
        <source>Reply interrupted</source>
        <translation>回复被中断</translation>
    </message>
    <message>
        <source>It was cut short.</source>
        <translation>没有写完。</translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation>尚未存储</translation>
    </message>
    <message>
        <source>Hunch keeps trying to save this reply.</source>
        <translation>Hunch 正在不断尝试存储这条回复。</translation>
    </message>
    <message>
        <source>Free some space and keep Hunch open.</source>
        <translation>请腾出空间，不要关闭 Hunch。</translation>
    </message>
    <message>
        <source>Message unreadable</source>
        <translation>无法读取这条消息</translation>
    </message>
    <message>
        <source>The chat file is damaged here.</source>
        <translation>对话文件的这一处已损坏。</translation>
    </message>
    <message>
        <source>Model changed</source>
        <translation>模型已更换</translation>
    </message>
    <message>
        <source>Its model was unloaded.</source>
        <translation>生成此回复的模型已卸载。</translation>
    </message>
    <message>
        <source>Memory full</source>
        <translation>内存已满</translation>
    </message>
    <message>
        <source>Start a new chat, or choose a smaller model.</source>
        <translation>请开始新对话，或选择更小的模型。</translation>
    </message>
    <message>
        <source>Context full</source>
        <translation>上下文已满</translation>
    </message>
    <message>
        <source>Continue without the oldest messages, or start a new chat.</source>
        <translation>略去最早的消息继续生成，或新建对话。</translation>
    </message>
    <message>
        <source>Reply limit reached</source>
        <translation>已达到回复长度上限</translation>
    </message>
    <message>
        <source>Continue, or raise the limit.</source>
        <translation>可以继续生成，或提高上限。</translation>
    </message>
</context>
<context>
    <name>ModelLinksPage</name>
    <message>
        <source>Your models</source>
        <translation>我的模型</translation>
    </message>
    <message>
        <source>Models are in the sidebar of the main window.</source>
        <translation>模型在主窗口的侧边栏中。</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>查找模型</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>Contacting hub…</source>
        <translation>正在查询 Hub…</translation>
    </message>
    <message>
        <source>license %1</source>
        <translation>许可证 %1</translation>
    </message>
    <message>
        <source>made from %1</source>
        <translation>源自 %1</translation>
    </message>
    <message>
        <source>Install, %1</source>
        <translation>安装（%1）</translation>
    </message>
    <message>
        <source>Nothing to install</source>
        <translation>没有可安装的内容</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Matching drafts</source>
        <translation>可搭配的草稿模型</translation>
    </message>
    <message>
        <source>Find drafts</source>
        <translation>查找草稿模型</translation>
    </message>
    <message>
        <source>Open model page</source>
        <translation>打开模型页面</translation>
    </message>
    <message>
        <source>Read the rest on the model page</source>
        <translation>在模型页面上阅读其余内容</translation>
    </message>
    <message>
        <source>Installed files</source>
        <translation>将安装的文件</translation>
    </message>
    <message>
        <source>From the author</source>
        <translation>作者说明</translation>
    </message>
    <message>
        <source>Accept the terms on its page, then add your token in Settings.</source>
        <translation>请在其页面上接受条款，然后在设置中填写令牌。</translation>
    </message>
</context>
<context>
    <name>ModelRow</name>
    <message>
        <source>Use</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>使用 %1</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>重新加载</translation>
    </message>
    <message>
        <source>Reload %1</source>
        <translation>重新加载 %1</translation>
    </message>
    <message>
        <source>Run over 2 Macs…</source>
        <translation>在 2 台 Mac 上运行…</translation>
    </message>
    <message>
        <source>Run %1 over 2 Macs</source>
        <translation>在 2 台 Mac 上运行 %1</translation>
    </message>
    <message>
        <source>More about %1</source>
        <translation>%1 的详细信息</translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation>删除 %1</translation>
    </message>
    <message>
        <source>Main model in use</source>
        <translation>正用作主模型</translation>
    </message>
    <message>
        <source>Draft in use</source>
        <translation>正用作草稿模型</translation>
    </message>
    <message>
        <source>Updated on disk, not reloaded yet.</source>
        <translation>文件已更新，但加载的仍是旧版本。</translation>
    </message>
    <message>
        <source>can think</source>
        <translation>支持思考</translation>
    </message>
    <message>
        <source>deleting…</source>
        <translation>正在删除…</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>update available</source>
        <translation>有更新</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>在文件夹中显示</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>对话模板</translation>
    </message>
    <message>
        <source>Stop verifying</source>
        <translation>停止校验</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>校验</translation>
    </message>
    <message>
        <source>Check for update</source>
        <translation>检查更新</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>修复</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>更新</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>Hugging Face cache</source>
        <translation>Hugging Face 缓存</translation>
    </message>
    <message>
        <source>%1 drafter</source>
        <translation>%1 草稿模型</translation>
    </message>
    <message>
        <source>%1-bit</source>
        <translation>%1 位</translation>
    </message>
    <message>
        <source>sees pictures</source>
        <translation>支持识图</translation>
    </message>
    <message>
        <source>comes with Hunch</source>
        <translation>Hunch 自带</translation>
    </message>
    <message>
        <source>installed by Hunch</source>
        <translation>由 Hunch 安装</translation>
    </message>
    <message>
        <source>added folder</source>
        <translation>已添加的文件夹</translation>
    </message>
    <message>
        <source>runs well</source>
        <translation>运行流畅</translation>
    </message>
    <message>
        <source>may be slow</source>
        <translation>可能较慢</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>太大</translation>
    </message>
    <message>
        <source>%1 of %3 with a chat of %2 tokens</source>
        <translation>%2 个 token 的对话需要 %1，可用 %3</translation>
    </message>
    <message>
        <source>%1 tokens fit</source>
        <translation>最多 %1 个 token</translation>
    </message>
    <message>
        <source>slower on %2 (%1×)</source>
        <translation>在 %2 上更慢（%1 倍）</translation>
    </message>
    <message>
        <source>%1× faster in chats on %2</source>
        <translation>在 %2 上对话提速至 %1 倍</translation>
    </message>
    <message>
        <source>%1× faster in code on %2</source>
        <translation>在 %2 上代码提速至 %1 倍</translation>
    </message>
    <message>
        <source>%1× faster in math on %2</source>
        <translation>在 %2 上数学提速至 %1 倍</translation>
    </message>
    <message>
        <source>%1× faster on %2</source>
        <translation>在 %2 上提速至 %1 倍</translation>
    </message>
    <message>
        <source>Text model, no chat template</source>
        <translation>没有对话模板的文本模型</translation>
    </message>
    <message>
        <source>Chat model</source>
        <translation>对话模型</translation>
    </message>
    <message>
        <source>pictures</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>tools</source>
        <translation>工具</translation>
    </message>
    <message>
        <source>drafts for %1</source>
        <translation>可作为 %1 的草稿模型</translation>
    </message>
    <message>
        <source>made for %1</source>
        <translation>专为 %1 制作</translation>
    </message>
    <message>
        <source>main model not installed</source>
        <translation>其主模型尚未安装</translation>
    </message>
    <message>
        <source>not supported: several tokens at once change its results</source>
        <translation>不支持：一次读取多个 token 时结果会不同</translation>
    </message>
    <message>
        <source>none installed</source>
        <translation>尚未安装</translation>
    </message>
    <message>
        <source>has its own drafter</source>
        <translation>自带专用草稿模型</translation>
    </message>
    <message>
        <source>%1 can draft for it</source>
        <translation>可用的草稿模型：%1</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 个 token</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>系列</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>上下文</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>内存</translation>
    </message>
    <message>
        <source>Can do</source>
        <translation>支持功能</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Languages</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>License</source>
        <translation>许可证</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>仓库</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>%1 fit in memory</source>
        <translation>内存可容纳 %1</translation>
    </message>
    <message>
        <source>limited to %1 in Settings</source>
        <translation>设置中限制为 %1</translation>
    </message>
    <message>
        <source>%1 set in Settings</source>
        <translation>设置中为 %1</translation>
    </message>
    <message>
        <source>In use as main model; the starter pair replaces it.</source>
        <translation>正用作主模型；删除后将换成入门模型。</translation>
    </message>
    <message>
        <source>In use as draft; replies continue without one.</source>
        <translation>正用作草稿模型；删除后回复不再使用草稿模型。</translation>
    </message>
    <message>
        <source>It can draft for %1.</source>
        <translation>它可以作为 %1 的草稿模型。</translation>
    </message>
    <message>
        <source>Reading files, %1</source>
        <translation>正在读取文件… %1</translation>
    </message>
    <message>
        <source>All files are intact.</source>
        <translation>所有文件完好。</translation>
    </message>
    <message>
        <source>Damaged or missing: %1.</source>
        <translation>已损坏或缺失：%1。</translation>
    </message>
    <message>
        <source>Cannot tell: not installed by Hunch.</source>
        <translation>它不是由 Hunch 安装的，因此无法判断。</translation>
    </message>
    <message>
        <source>Contacting hub…</source>
        <translation>正在查询 Hub…</translation>
    </message>
    <message>
        <source>Up to date.</source>
        <translation>已是最新版本。</translation>
    </message>
    <message>
        <source>Update available.</source>
        <translation>有可用更新。</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>正在下载</translation>
    </message>
    <message>
        <source>Use %1 and its draft</source>
        <translation>使用 %1 及其草稿模型</translation>
    </message>
    <message>
        <source>Use both</source>
        <translation>一起使用</translation>
    </message>
    <message>
        <source>Install %1 and its draft</source>
        <translation>安装 %1 及其草稿模型</translation>
    </message>
    <message>
        <source>Install both</source>
        <translation>全部安装</translation>
    </message>
    <message>
        <source>Install %1</source>
        <translation>安装 %1</translation>
    </message>
    <message>
        <source>about %1 to download</source>
        <translation>需下载约 %1</translation>
    </message>
    <message>
        <source>has a draft</source>
        <translation>有草稿模型</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>%1 was not downloaded</source>
        <translation>未能下载 %1</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
</context>
<context>
    <name>ModelsView</name>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>我的模型</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>查找</translation>
    </message>
</context>
<context>
    <name>MoveOffer</name>
    <message>
        <source>It runs from a temporary place, such as a disk image.</source>
        <translation>当前从磁盘映像等临时位置运行。</translation>
    </message>
    <message>
        <source>Move Hunch to Applications?</source>
        <translation>要将 Hunch 移到“应用程序”文件夹吗？</translation>
    </message>
    <message>
        <source>Move and Reopen</source>
        <translation>移动并重新打开</translation>
    </message>
    <message>
        <source>Moving to Applications…</source>
        <translation>正在移到“应用程序”文件夹…</translation>
    </message>
    <message>
        <source>Drag Hunch to the Applications folder in Finder.</source>
        <translation>请在访达中将 Hunch 拖到“应用程序”文件夹。</translation>
    </message>
    <message>
        <source>Hunch could not move itself</source>
        <translation>Hunch 未能移动</translation>
    </message>
</context>
<context>
    <name>NearbyCard</name>
    <message>
        <source>Pair</source>
        <translation>配对</translation>
    </message>
    <message>
        <source>Pair with %1</source>
        <translation>与 %1 配对</translation>
    </message>
</context>
<context>
    <name>OfferRow</name>
    <message>
        <source>In use</source>
        <translation>使用中</translation>
    </message>
    <message>
        <source>draft: %1</source>
        <translation>草稿模型：%1</translation>
    </message>
</context>
<context>
    <name>OptionField</name>
    <message>
        <source>As in Settings</source>
        <translation>沿用设置</translation>
    </message>
</context>
<context>
    <name>OptionForm</name>
    <message>
        <source>As in Settings</source>
        <translation>沿用设置</translation>
    </message>
    <message>
        <source>Text still varies</source>
        <translation>文本仍会变化</translation>
    </message>
    <message>
        <source>Different text each time</source>
        <translation>每次文本不同</translation>
    </message>
    <message>
        <source>Same seed, same text</source>
        <translation>种子相同则文本相同</translation>
    </message>
    <message>
        <source>No effect at temperature 0</source>
        <translation>温度为 0 时无效果</translation>
    </message>
    <message>
        <source>No effect while drafting is off</source>
        <translation>不使用草稿模型时无效果</translation>
    </message>
    <message>
        <source>This chat only</source>
        <translation>仅此对话</translation>
    </message>
    <message>
        <source>Default for this model</source>
        <translation>此模型的默认值</translation>
    </message>
    <message>
        <source>This project</source>
        <translation>此项目</translation>
    </message>
    <message>
        <source>From preset</source>
        <translation>来自预设</translation>
    </message>
    <message>
        <source>From the project</source>
        <translation>来自项目</translation>
    </message>
</context>
<context>
    <name>Options</name>
    <message>
        <source>System prompt</source>
        <translation>系统提示词</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>温度</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <translation>重复惩罚</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>Fastest drafting</source>
        <translation>草稿速度优先</translation>
    </message>
    <message>
        <source>Reply limit</source>
        <translation>回复长度上限</translation>
    </message>
    <message>
        <source>Context limit</source>
        <translation>上下文上限</translation>
    </message>
    <message>
        <source>Long chats</source>
        <translation>长对话</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Picture detail</source>
        <translation>图片细节</translation>
    </message>
    <message>
        <source>Context memory</source>
        <translation>上下文内存</translation>
    </message>
    <message>
        <source>Form of replies</source>
        <translation>回复格式</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>%1 cannot keep to a form. Choose Free text in the chat settings.</source>
        <translation>%1 无法遵守格式。请在对话设置中选择“自由文本”。</translation>
    </message>
    <message>
        <source>Random</source>
        <translation>随机</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>Same as model</source>
        <translation>与模型相同</translation>
    </message>
    <message>
        <source>on</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>完整</translation>
    </message>
    <message>
        <source>Half</source>
        <translation>减半</translation>
    </message>
    <message>
        <source>Leave out the oldest</source>
        <translation>略去最早的消息</translation>
    </message>
    <message>
        <source>Summarize the oldest</source>
        <translation>概括最早的消息</translation>
    </message>
    <message>
        <source>Ask me</source>
        <translation>询问我</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>低</translation>
    </message>
    <message>
        <source>High</source>
        <translation>高</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>标准</translation>
    </message>
    <message>
        <source>Up to %1 tokens</source>
        <translation>最多 %1 个 token</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Overlay</name>
    <message>
        <source>Draft token %1 of %2 · pass %3</source>
        <translation>草稿 %2 个 token 中的第 %1 个 · 第 %3 轮</translation>
    </message>
    <message>
        <source>The draft wanted</source>
        <translation>草稿模型的猜测</translation>
    </message>
    <message>
        <source>The main model wrote</source>
        <translation>主模型的选择</translation>
    </message>
    <message>
        <source>to end the reply</source>
        <translation>结束回复</translation>
    </message>
    <message>
        <source>a part of another character</source>
        <translation>另一个字的一部分</translation>
    </message>
</context>
<context>
    <name>OverlayMenu</name>
    <message>
        <source>None in sight.</source>
        <translation>当前可见范围内没有。</translation>
    </message>
    <message>
        <source>Draft marks are hidden.</source>
        <translation>草稿标记已隐藏。</translation>
    </message>
    <message>
        <source>Marked: guessed right.</source>
        <translation>已标记：猜中的文字。</translation>
    </message>
    <message>
        <source>Marked: guessed right, corrected.</source>
        <translation>已标记：猜中的文字和改写处。</translation>
    </message>
    <message>
        <source>No corrections in sight.</source>
        <translation>当前可见范围内没有改写处。</translation>
    </message>
    <message>
        <source>Always show</source>
        <translation>始终显示</translation>
    </message>
    <message>
        <source>Dotted: guessed right. Solid: corrected.</source>
        <translation>虚线：猜中的文字。实线：改写处。</translation>
    </message>
    <message>
        <source>Draft Marks</source>
        <translation>草稿标记</translation>
    </message>
    <message>
        <source>Marked Words</source>
        <translation>标记的文字</translation>
    </message>
    <message>
        <source>Guessed Right</source>
        <translation>猜中的文字</translation>
    </message>
    <message>
        <source>Guessed Right and Corrected</source>
        <translation>猜中的文字和改写处</translation>
    </message>
    <message>
        <source>Next Correction</source>
        <translation>下一处改写</translation>
    </message>
    <message>
        <source>Previous Correction</source>
        <translation>上一处改写</translation>
    </message>
</context>
<context>
    <name>PairChip</name>
    <message>
        <source>Models: %1</source>
        <translation>模型：%1</translation>
    </message>
    <message>
        <source>Unloaded; your next message reloads it.</source>
        <translation>不在内存中，发送下一条消息时会重新加载。</translation>
    </message>
    <message>
        <source>%1 drafts for it, ahead of time.</source>
        <translation>%1 也在提前起草。</translation>
    </message>
    <message>
        <source>off for this pair</source>
        <translation>已为此组合关闭</translation>
    </message>
    <message>
        <source>answered together</source>
        <translation>同时生成</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>自动</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <comment>drafted per pass</comment>
        <translation>
            <numerusform>%Ln 个 token</numerusform>
        </translation>
    </message>
    <message>
        <source>Loading %1… %2</source>
        <translation>正在加载 %1… %2</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>选择模型</translation>
    </message>
    <message>
        <source>Loading %1…</source>
        <translation>正在加载 %1…</translation>
    </message>
    <message>
        <source>%1 on 2 Macs</source>
        <translation>%1 · 2 台 Mac</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>无法加载 %1</translation>
    </message>
</context>
<context>
    <name>PairedCard</name>
    <message>
        <source>Runs part of %1.</source>
        <translation>正在运行 %1 的一部分。</translation>
    </message>
    <message>
        <source>Change the address of %1</source>
        <translation>更改 %1 的地址</translation>
    </message>
    <message>
        <source>Change address</source>
        <translation>更改地址</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>移除 %1</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>移除…</translation>
    </message>
    <message>
        <source>Remove %1?</source>
        <translation>要移除 %1 吗？</translation>
    </message>
    <message>
        <source>Neither Mac can use the other. To pair them again you need a new code.</source>
        <translation>两台 Mac 将无法互相使用。重新配对需要新的配对码。</translation>
    </message>
    <message>
        <source>The model that runs over both is unloaded.</source>
        <translation>在两台上运行的模型会被卸载。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>PairingCard</name>
    <message>
        <source>Paired with %1.</source>
        <translation>已与 %1 配对。</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>正在连接…</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>On the other Mac, under Lend memory to other Macs.</source>
        <translation>另一台 Mac 的“借内存给其他 Mac”下显示的地址。</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>配对码</translation>
    </message>
    <message>
        <source>Eight digits, from Show code there.</source>
        <translation>那台 Mac 上“显示配对码”给出的八位数字。</translation>
    </message>
    <message>
        <source>Pair</source>
        <translation>配对</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>Pairs</name>
    <message>
        <source>%1 more memory</source>
        <translation>多占 %1 内存</translation>
    </message>
    <message>
        <source>slower here (%1)</source>
        <translation>在这台 Mac 上更慢（%1）</translation>
    </message>
    <message>
        <source>%1 on this Mac</source>
        <translation>在这台 Mac 上 %1</translation>
    </message>
    <message>
        <source>slower</source>
        <translation>更慢</translation>
    </message>
    <message>
        <source>no gain expected (estimate)</source>
        <translation>预计在这台 Mac 上无收益（估计）</translation>
    </message>
    <message>
        <source>about %1 in chats (estimate)</source>
        <translation>在这台 Mac 的对话中约 %1（估计）</translation>
    </message>
    <message>
        <source>about %1 in code (estimate)</source>
        <translation>在这台 Mac 的代码中约 %1（估计）</translation>
    </message>
    <message>
        <source>about %1 in math (estimate)</source>
        <translation>在这台 Mac 的数学中约 %1（估计）</translation>
    </message>
    <message>
        <source>about %1 (estimate)</source>
        <translation>在这台 Mac 上约 %1（估计）</translation>
    </message>
    <message>
        <source>not measured here yet</source>
        <translation>尚未在这台 Mac 上测量</translation>
    </message>
    <message>
        <source>With %1: %2</source>
        <translation>搭配 %1：%2</translation>
    </message>
    <message>
        <source>Named after another model: may guess poorly.</source>
        <translation>名称属于其他模型：可能很少猜对。</translation>
    </message>
    <message>
        <source>Made for this main model.</source>
        <translation>专为这个主模型制作。</translation>
    </message>
    <message>
        <source>Both know the same %1 tokens.</source>
        <translation>两个模型的 %1 个 token 完全相同。</translation>
    </message>
    <message>
        <source>%1 of %2 tokens differ; none is text.</source>
        <translation>%2 个 token 中有 %1 个不同，均非文本。</translation>
    </message>
    <message>
        <source>%1 of %2 tokens match.</source>
        <translation>%2 个 token 中有 %1 个相同。</translation>
    </message>
    <message>
        <source>Weights: %1, draft %2</source>
        <translation>权重：主模型 %1，草稿模型 %2</translation>
    </message>
    <message>
        <source>Vocabularies: %1 tokens, draft %2, shared %3</source>
        <translation>词表：主模型 %1 个 token，草稿模型 %2 个，共有 %3 个</translation>
    </message>
    <message>
        <source>Same tokenization</source>
        <translation>分词方式相同</translation>
    </message>
    <message>
        <source>Same tokens in four languages</source>
        <translation>两个模型将四种语言的示例文本切分为相同的 token</translation>
    </message>
    <message>
        <source>Tokenization could not be compared</source>
        <translation>未能比较分词方式</translation>
    </message>
    <message>
        <source>Sample (%1): %2 tokens each, but different</source>
        <translation>示例文本（%1）：两者都是 %2 个 token，但不相同</translation>
    </message>
    <message>
        <source>Sample (%1): %2 tokens, draft %3</source>
        <translation>示例文本（%1）：主模型 %2 个 token，草稿模型 %3 个</translation>
    </message>
    <message>
        <source>Same end tokens</source>
        <translation>结束回复的 token 相同</translation>
    </message>
    <message>
        <source>Different end tokens</source>
        <translation>结束回复的 token 不同</translation>
    </message>
    <message>
        <source>Same chat template</source>
        <translation>对话模板相同</translation>
    </message>
    <message>
        <source>Different chat templates; the main model&apos;s is used</source>
        <translation>对话模板不同，使用主模型的模板</translation>
    </message>
</context>
<context>
    <name>PaletteCommands</name>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>使用 %1</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Settings: %1</source>
        <translation>设置：%1</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
</context>
<context>
    <name>Picker</name>
    <message>
        <source>No models installed.</source>
        <translation>尚未安装模型。</translation>
    </message>
    <message>
        <source>Comparing…</source>
        <translation>正在比较…</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近使用</translation>
    </message>
    <message>
        <source>All others</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>Used as drafts</source>
        <translation>用作草稿的模型</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>正在检查…</translation>
    </message>
    <message>
        <source>No draft</source>
        <translation>不用草稿模型</translation>
    </message>
    <message>
        <source>Main model only</source>
        <translation>仅主模型</translation>
    </message>
    <message>
        <source>Chat models</source>
        <translation>对话模型</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>专用草稿模型</translation>
    </message>
    <message>
        <source>Comparing tokens…</source>
        <translation>正在比较 token…</translation>
    </message>
    <message>
        <source>also on %1</source>
        <translation>也在 %1 上运行</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>推荐</translation>
    </message>
    <message>
        <source>Compatible</source>
        <translation>兼容</translation>
    </message>
    <message>
        <source>Not compatible</source>
        <translation>不兼容</translation>
    </message>
    <message>
        <source>Back to the models</source>
        <translation>返回模型列表</translation>
    </message>
    <message>
        <source>More</source>
        <translation>更多</translation>
    </message>
</context>
<context>
    <name>PickerLists</name>
    <message>
        <source>Main model</source>
        <translation>主模型</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>搜索模型</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>没有找到结果。</translation>
    </message>
</context>
<context>
    <name>PickerMore</name>
    <message>
        <source>Comparing…</source>
        <translation>正在比较…</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>竞速…</translation>
    </message>
    <message>
        <source>Find a draft…</source>
        <translation>查找草稿模型…</translation>
    </message>
    <message>
        <source>More models…</source>
        <translation>更多模型…</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>卸载</translation>
    </message>
    <message>
        <source>How the two compare</source>
        <translation>两个模型的比较</translation>
    </message>
</context>
<context>
    <name>PictureViewer</name>
    <message>
        <source>This picture is not on the disk any more.</source>
        <translation>此图片已不在磁盘上。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>拷贝</translation>
    </message>
    <message>
        <source>Remove from Message</source>
        <translation>从消息中移除</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>PlanCard</name>
    <message>
        <source>Automatic measures which is faster.</source>
        <translation>“自动”会测量哪种更快。</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>方式</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>With</source>
        <translation>搭配的 Mac</translation>
    </message>
    <message>
        <source>Run over 2 Macs</source>
        <translation>在 2 台 Mac 上运行</translation>
    </message>
    <message>
        <source>Run on this Mac alone</source>
        <translation>仅在这台 Mac 上运行</translation>
    </message>
</context>
<context>
    <name>Portable</name>
    <message>
        <source>The disk with %1 is full.</source>
        <translation>%1 所在的磁盘空间已满。</translation>
    </message>
    <message>
        <source>Free some space, or choose another place.</source>
        <translation>请腾出空间，或选择其他位置。</translation>
    </message>
    <message>
        <source>No permission to write to %1.</source>
        <translation>Hunch 没有写入 %1 的权限。</translation>
    </message>
    <message>
        <source>Choose another place.</source>
        <translation>请选择其他位置。</translation>
    </message>
    <message>
        <source>%1 no longer exists.</source>
        <translation>文件夹 %1 已不存在。</translation>
    </message>
    <message>
        <source>%1 cannot be written to.</source>
        <translation>无法写入 %1 所在的磁盘。</translation>
    </message>
    <message>
        <source>Not exported</source>
        <translation>未能导出</translation>
    </message>
    <message>
        <source>Exported to “%1”.</source>
        <translation>已导出到“%1”。</translation>
    </message>
    <message>
        <source>Pictures left out because their files are missing or damaged: %1.</source>
        <translation>因文件丢失或损坏而未包含的图片：%1 张。</translation>
    </message>
    <message>
        <source>Files left out because they are gone: %1.</source>
        <translation>因文件已不在而未导出：%1 个。</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Chats imported: %1.</source>
        <translation>已导入 %1 个对话。</translation>
    </message>
    <message>
        <source>Chats with new messages: %1.</source>
        <translation>已为 %1 个对话添加新消息。</translation>
    </message>
    <message>
        <source>Presets imported: %1.</source>
        <translation>已导入 %1 个预设。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>not a supported chat file</source>
        <translation>不是支持的对话文件</translation>
    </message>
    <message>
        <source>no messages</source>
        <translation>没有消息</translation>
    </message>
    <message>
        <source>damaged, or not JSON</source>
        <translation>已损坏，或不是 JSON</translation>
    </message>
    <message>
        <source>incomplete</source>
        <translation>不完整</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>Tool</source>
        <comment>that a reply has called</comment>
        <translation>工具</translation>
    </message>
    <message>
        <source>Result</source>
        <comment>of a tool</comment>
        <translation>结果</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>太大</translation>
    </message>
    <message>
        <source>Pictures left out: %1. JSON takes 150 MB of them from each chat and 2 GB in all, Markdown takes all.</source>
        <translation>未包含的图片：%1 张。JSON 中每个对话最多包含 150 MB、总共最多 2 GB 图片，Markdown 则全部包含。</translation>
    </message>
    <message>
        <source>from a newer Hunch</source>
        <translation>来自较新版本的 Hunch</translation>
    </message>
    <message>
        <source>password-protected</source>
        <translation>有密码保护</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>未找到</translation>
    </message>
    <message>
        <source>no permission</source>
        <translation>没有读取权限</translation>
    </message>
    <message>
        <source>not readable</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>too complex</source>
        <translation>过于复杂</translation>
    </message>
    <message>
        <source>You</source>
        <comment>who wrote a message</comment>
        <translation>我</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回复</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Attachment</source>
        <translation>附件</translation>
    </message>
</context>
<context>
    <name>PresetRow</name>
    <message>
        <source>Save as Preset…</source>
        <translation>存储为预设…</translation>
    </message>
    <message>
        <source>Save Changes to Preset</source>
        <translation>将更改存储到预设</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>重命名…</translation>
    </message>
    <message>
        <source>Delete Preset…</source>
        <translation>删除预设…</translation>
    </message>
    <message>
        <source>Delete the preset “%1”?</source>
        <translation>要删除预设“%1”吗？</translation>
    </message>
    <message>
        <source>Chats keep its settings. This cannot be undone.</source>
        <translation>对话会保留其设置。此操作无法撤销。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>No preset</source>
        <translation>无预设</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Manage presets</source>
        <translation>管理预设</translation>
    </message>
    <message>
        <source>Preset name</source>
        <translation>预设名称</translation>
    </message>
</context>
<context>
    <name>ProgressPart</name>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message numerus="yes">
        <source>Waiting for %Ln other reply(ies)…</source>
        <translation>
            <numerusform>正在等待其他 %Ln 条回复…</numerusform>
        </translation>
    </message>
    <message>
        <source>Reading the chat…</source>
        <translation>正在读取对话…</translation>
    </message>
    <message>
        <source>Reading the chat… %1</source>
        <translation>正在读取对话… %1</translation>
    </message>
</context>
<context>
    <name>ProjectFiles</name>
    <message>
        <source>read whole in every chat</source>
        <translation>每个对话都完整读取</translation>
    </message>
    <message>
        <source>searched when needed</source>
        <translation>需要时搜索</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>等待中</translation>
    </message>
    <message>
        <source>being read</source>
        <translation>正在读取</translation>
    </message>
    <message>
        <source>not found where it was</source>
        <translation>原位置找不到</translation>
    </message>
    <message>
        <source>too large to read</source>
        <translation>太大，无法读取</translation>
    </message>
</context>
<context>
    <name>ProjectFilesCard</name>
    <message>
        <source>Files</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Add Files…</source>
        <translation>添加文件…</translation>
    </message>
    <message>
        <source>Drop files here. Small ones are read whole, the others are searched.</source>
        <translation>将文件拖到这里。小文件会完整读取，其余的会按需搜索。</translation>
    </message>
    <message numerus="yes">
        <source>And %Ln more file(s)</source>
        <translation>
            <numerusform>另有 %Ln 个文件</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectForm</name>
    <message>
        <source>Project</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>All chats in a project begin with its instructions and files, its models and settings.</source>
        <translation>项目中的所有对话都以它的指令、文件、模型和设置开始。</translation>
    </message>
    <message>
        <source>New Chat in This Project</source>
        <translation>在此项目中新建对话</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>指令</translation>
    </message>
    <message>
        <source>What the model should know and do in every chat here</source>
        <translation>模型在这里的每个对话中应了解和遵循的内容</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s), read once for all chats</source>
        <translation>
            <numerusform>%Ln 个 token，所有对话只读取一次</numerusform>
        </translation>
    </message>
    <message>
        <source>As chosen at the time</source>
        <translation>届时所选的模型</translation>
    </message>
    <message>
        <source>%1 (not installed)</source>
        <translation>%1（未安装）</translation>
    </message>
    <message>
        <source>Models for new chats</source>
        <translation>新对话的模型</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>使用 %1</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>对话设置</translation>
    </message>
</context>
<context>
    <name>ProjectLine</name>
    <message>
        <source>instructions</source>
        <translation>指令</translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>%Ln 个文件</numerusform>
        </translation>
    </message>
    <message>
        <source>settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Project: %1</source>
        <translation>项目：%1</translation>
    </message>
</context>
<context>
    <name>ProjectPage</name>
    <message>
        <source>Add Files to the Project</source>
        <translation>向项目添加文件</translation>
    </message>
    <message>
        <source>“%1” was removed from the project.</source>
        <translation>已从项目中移除“%1”。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s) left out: a project holds 5,000 files and 2 GB.</source>
        <translation>
            <numerusform>已略过 %Ln 个文件：一个项目最多容纳 5,000 个文件、2 GB。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PromptDialog</name>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>提示词</translation>
    </message>
    <message>
        <source>Example: Translate</source>
        <translation>例如：翻译</translation>
    </message>
    <message>
        <source>Example: Translate into English, and keep the tone:</source>
        <translation>例如：翻译成中文，保留语气：</translation>
    </message>
    <message>
        <source>New Prompt</source>
        <translation>新建提示词</translation>
    </message>
    <message>
        <source>Edit Prompts</source>
        <translation>编辑提示词</translation>
    </message>
    <message>
        <source>Type / in a message to use it.</source>
        <translation>在消息中输入 / 即可使用。</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>存储</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Deleted the prompt “%1”.</source>
        <translation>已删除提示词“%1”。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>PromptField</name>
    <message>
        <source>Cut to %1 characters.</source>
        <translation>已截断为 %1 个字符。</translation>
    </message>
</context>
<context>
    <name>PromptList</name>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>New Prompt…</source>
        <translation>新建提示词…</translation>
    </message>
    <message>
        <source>Edit Prompts…</source>
        <translation>编辑提示词…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>提示词</translation>
    </message>
</context>
<context>
    <name>QCocoaMenuItem</name>
    <message>
        <source>Cut</source>
        <translation>剪切</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>拷贝</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>粘贴</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>全选</translation>
    </message>
</context>
<context>
    <name>QuickAsk</name>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>发送</translation>
    </message>
    <message>
        <source>Quick Ask</source>
        <translation>快速提问</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回复</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Saved as a chat.</source>
        <translation>会存储为对话。</translation>
    </message>
    <message>
        <source>Open in Hunch</source>
        <translation>在 Hunch 中打开</translation>
    </message>
</context>
<context>
    <name>Race</name>
    <message>
        <source>Same prompt and seed, with and without the draft.</source>
        <translation>用同一提示词和种子，分别在不用和使用草稿模型时各回答一次。</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>正在测量…</translation>
    </message>
    <message>
        <source>The race could not run</source>
        <translation>无法竞速</translation>
    </message>
    <message>
        <source>Not measured</source>
        <translation>未测出</translation>
    </message>
    <message>
        <source>Too short to measure</source>
        <translation>太短，无法测量</translation>
    </message>
    <message>
        <source>Nothing was drafted</source>
        <translation>没有草稿</translation>
    </message>
    <message>
        <source>Continues after the current reply.</source>
        <translation>当前回复结束后继续。</translation>
    </message>
    <message>
        <source>Race stopped.</source>
        <translation>竞速已停止。</translation>
    </message>
    <message>
        <source>The laps differ, so it takes longer.</source>
        <translation>各次测量结果不一致，需要更长时间。</translation>
    </message>
    <message>
        <source>Both ways in turns, until the figure is certain.</source>
        <translation>两种方式轮流运行，直到数字确定。</translation>
    </message>
    <message>
        <source>Try a prompt with a longer reply.</source>
        <translation>请换一个会得到更长回复的提示词。</translation>
    </message>
    <message>
        <source>The laps differed too much. Race again when this Mac is idle.</source>
        <translation>各次测量结果相差太大，请在这台 Mac 空闲时再次竞速。</translation>
    </message>
    <message>
        <source>This Mac was busy at times; only its quiet laps count.</source>
        <translation>这台 Mac 有时正忙，因此只采用空闲时的结果。</translation>
    </message>
    <message>
        <source>So Auto drafts nothing here.</source>
        <translation>因此自动模式在此不使用草稿模型。</translation>
    </message>
    <message>
        <source>The texts differ from token %1 on, by rounding.</source>
        <translation>从第 %1 个 token 起，文本因舍入误差而不同。</translation>
    </message>
    <message>
        <source>The texts differ from token %1 on, by “Fastest drafting”.</source>
        <translation>从第 %1 个 token 起，文本因“草稿速度优先”而不同。</translation>
    </message>
</context>
<context>
    <name>RaceBars</name>
    <message>
        <source>Without the draft</source>
        <translation>不用草稿模型</translation>
    </message>
    <message>
        <source>With the draft</source>
        <translation>使用草稿模型</translation>
    </message>
    <message>
        <source>%1 s · %2 tok/s</source>
        <translation>%1 秒 · 每秒 %2 token</translation>
    </message>
</context>
<context>
    <name>RaceWindow</name>
    <message>
        <source>Load a pair first.</source>
        <translation>请先加载一组模型。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Race again</source>
        <translation>再次竞速</translation>
    </message>
    <message>
        <source>Race</source>
        <translation>竞速</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>As in this chat</source>
        <translation>与此对话相同</translation>
    </message>
    <message>
        <source>Greedy</source>
        <translation>贪心</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>采样</translation>
    </message>
    <message>
        <source>Always the likeliest token.</source>
        <translation>总是选取概率最高的 token。</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回复</translation>
    </message>
</context>
<context>
    <name>ReadingDialog</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>Recommended</name>
    <message>
        <source>Recommended for this Mac</source>
        <translation>为这台 Mac 推荐</translation>
    </message>
</context>
<context>
    <name>RemovedCard</name>
    <message>
        <source>%1 was removed.</source>
        <translation>已移除 %1。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
</context>
<context>
    <name>ReplyEnds</name>
    <message>
        <source>Reply waits for you.</source>
        <translation>回复正在等待允许。</translation>
    </message>
    <message>
        <source>Reply failed.</source>
        <translation>回复失败。</translation>
    </message>
    <message>
        <source>Reply finished.</source>
        <translation>回复已完成。</translation>
    </message>
    <message>
        <source>Reply ended early.</source>
        <translation>回复提前结束。</translation>
    </message>
    <message>
        <source>Reply waits for you in another chat.</source>
        <translation>另一个对话中的回复正在等待允许。</translation>
    </message>
    <message>
        <source>Reply failed in another chat.</source>
        <translation>另一个对话的回复失败。</translation>
    </message>
    <message>
        <source>Reply finished in another chat.</source>
        <translation>另一个对话的回复已完成。</translation>
    </message>
    <message>
        <source>Reply ended early in another chat.</source>
        <translation>另一个对话的回复提前结束。</translation>
    </message>
</context>
<context>
    <name>ReplyStats</name>
    <message>
        <source>stopped before the first word</source>
        <translation>在生成第一个词之前停止</translation>
    </message>
    <message>
        <source>this Mac is hot</source>
        <translation>Mac 过热</translation>
    </message>
    <message>
        <source>this Mac saves energy</source>
        <translation>低电量模式</translation>
    </message>
    <message>
        <source>no drafting on battery</source>
        <translation>使用电池，未用草稿模型</translation>
    </message>
    <message>
        <source>no draft used: no gain here</source>
        <translation>未用草稿：这里没有提速</translation>
    </message>
    <message>
        <source>as fast as without</source>
        <translation>与不用草稿时一样快</translation>
    </message>
    <message>
        <source>%1× faster</source>
        <translation>提速至 %1 倍</translation>
    </message>
    <message>
        <source>about %1× faster</source>
        <translation>提速至约 %1 倍</translation>
    </message>
    <message>
        <source>waits for you</source>
        <translation>等待允许</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>%1 slower</source>
        <translation>慢 %1</translation>
    </message>
    <message>
        <source>about %1 slower</source>
        <translation>约慢 %1</translation>
    </message>
    <message>
        <source>Without a draft: about %1 tok/s, measured while idle. Between %2× and %3×.</source>
        <translation>不用草稿模型：每秒约 %1 token（空闲时测得）。在 %2 至 %3 倍之间。</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>为此组合关闭</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>每秒 %1 token</translation>
    </message>
    <message>
        <source>%1 accepted</source>
        <translation>接受率 %1</translation>
    </message>
    <message>
        <source>%1 tok/pass</source>
        <translation>每轮 %1 token</translation>
    </message>
    <message>
        <source>%1 tok/pass (break-even: %2)</source>
        <translation>每轮 %1 token（盈亏平衡点：%2）</translation>
    </message>
    <message>
        <source>The next reply measures more.</source>
        <translation>下一条回复会继续测量。</translation>
    </message>
    <message>
        <source>Answered together, so little was drafted.</source>
        <translation>同时生成，因此几乎没有使用草稿模型。</translation>
    </message>
    <message>
        <source>Paused: drafting would be about %1 slower.</source>
        <translation>已暂停：使用草稿模型会约慢 %1。</translation>
    </message>
    <message>
        <source>Guesses come from this chat&apos;s text.</source>
        <translation>猜测取自本对话的文字。</translation>
    </message>
</context>
<context>
    <name>ReportDialog</name>
    <message>
        <source>Diagnostics</source>
        <translation>诊断信息</translation>
    </message>
    <message>
        <source>Hunch sends nothing. Copy it into your report.</source>
        <translation>Hunch 不会发送任何内容。请自行拷贝到报告中。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>拷贝</translation>
    </message>
</context>
<context>
    <name>Requests</name>
    <message>
        <source>Waiting</source>
        <translation>正在等待</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>正在读取</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>正在生成</translation>
    </message>
    <message>
        <source>Using a tool</source>
        <translation>正在使用工具</translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation>等待允许</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>Length limit</source>
        <translation>达到长度上限</translation>
    </message>
    <message>
        <source>Context full</source>
        <translation>上下文已满</translation>
    </message>
    <message>
        <source>Memory full</source>
        <translation>内存已满</translation>
    </message>
    <message>
        <source>Model changed</source>
        <translation>模型已更换</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Accept rate</source>
        <translation>接受率</translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <translation>每轮 token&#xa0;数</translation>
    </message>
    <message>
        <source>By position</source>
        <translation>各位置</translation>
    </message>
    <message>
        <source>Over the reply</source>
        <translation>过程变化</translation>
    </message>
    <message>
        <source>Draft time</source>
        <translation>草稿用时</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>token / 秒</translation>
    </message>
    <message>
        <source>answered together</source>
        <translation>同时生成</translation>
    </message>
    <message>
        <source>no gain here</source>
        <translation>没有提速</translation>
    </message>
    <message>
        <source>drafting off</source>
        <translation>草稿已关</translation>
    </message>
    <message>
        <source>no draft</source>
        <translation>无草稿模型</translation>
    </message>
    <message>
        <source>not supported</source>
        <translation>不支持</translation>
    </message>
    <message>
        <source>draft failed</source>
        <translation>草稿模型出错</translation>
    </message>
    <message>
        <source>from this chat</source>
        <translation>取自本对话</translation>
    </message>
    <message>
        <source>draft model</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>已暂停</translation>
    </message>
    <message>
        <source>for your chat</source>
        <translation>你的对话优先</translation>
    </message>
    <message>
        <source>Another program</source>
        <translation>其他程序</translation>
    </message>
    <message>
        <source>Deleted chat</source>
        <translation>已删除的对话</translation>
    </message>
    <message>
        <source>Show more (%1 older)</source>
        <translation>显示更多（还有 %1 条）</translation>
    </message>
    <message>
        <source>Speed-up</source>
        <translation>加速比</translation>
    </message>
</context>
<context>
    <name>RunSheet</name>
    <message>
        <source>What runs</source>
        <translation>将运行的内容</translation>
    </message>
    <message>
        <source>It gets the values of %1.</source>
        <translation>它会得到 %1 的值。</translation>
    </message>
    <message>
        <source>Connect to %1?</source>
        <translation>要连接到%1吗？</translation>
    </message>
    <message>
        <source>What a model gives to its tools is sent to this address.</source>
        <translation>模型交给其工具的内容会发送到此网址。</translation>
    </message>
    <message>
        <source>Run %1?</source>
        <translation>要运行%1吗？</translation>
    </message>
    <message>
        <source>This command runs as you and can do all that you can. What it touches, macOS counts as Hunch&apos;s.</source>
        <translation>此命令以你的身份运行，能做你能做的一切。macOS 会将它的访问视为 Hunch 的访问。</translation>
    </message>
    <message>
        <source>Turn On</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>SamplingPage</name>
    <message>
        <source>Example: Answer briefly, in Korean.</source>
        <translation>例如：请用中文简短回答。</translation>
    </message>
    <message>
        <source>Restore defaults</source>
        <translation>恢复默认值</translation>
    </message>
    <message>
        <source>1 is off; higher avoids repeats.</source>
        <translation>1 为关闭，越高越避免重复。</translation>
    </message>
    <message>
        <source>For models that see. Lower is faster.</source>
        <translation>适用于能识图的模型。越低越快。</translation>
    </message>
    <message>
        <source>Text still varies while “Fastest drafting” is on.</source>
        <translation>“草稿速度优先”打开时，种子相同文本仍会变化。</translation>
    </message>
    <message>
        <source>Same seed, same reply with any draft.</source>
        <translation>种子相同则回复相同，与草稿模型无关。</translation>
    </message>
    <message>
        <source>Now %1, this chat&apos;s.</source>
        <translation>目前为 %1，来自此对话。</translation>
    </message>
    <message>
        <source>Now %1, this preset&apos;s.</source>
        <translation>目前为 %1，来自此预设。</translation>
    </message>
    <message>
        <source>Now %1, this model&apos;s.</source>
        <translation>目前为 %1，来自此模型。</translation>
    </message>
    <message>
        <source>Now %1, this project&apos;s.</source>
        <translation>目前为 %1，来自此项目。</translation>
    </message>
    <message>
        <source>Starts every chat.</source>
        <translation>在每个对话开始时发送。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>0 is predictable; higher is freer.</source>
        <translation>0 最固定，数值越高越随机。</translation>
    </message>
    <message>
        <source>Limits choices to this total probability.</source>
        <translation>只从累计概率达到此值的词中选取。</translation>
    </message>
    <message>
        <source>Skips words below this share of the likeliest.</source>
        <translation>与最可能的词相比，概率低于此比例的词会被跳过。</translation>
    </message>
    <message>
        <source>Limits choices to this many; 0 is off.</source>
        <translation>只从这么多个词中选取，0 为关闭。</translation>
    </message>
    <message>
        <source>Faster, but seeds no longer fix the text.</source>
        <translation>更快，但相同种子不再保证相同文本。</translation>
    </message>
    <message>
        <source>In tokens.</source>
        <translation>以 token 计。</translation>
    </message>
    <message>
        <source>In tokens. Less saves memory.</source>
        <translation>以 token 计。越少越省内存。</translation>
    </message>
    <message>
        <source>What happens to messages that no longer fit.</source>
        <translation>放不下的消息如何处理。</translation>
    </message>
    <message>
        <source>For models that can think.</source>
        <translation>适用于能思考的模型。</translation>
    </message>
    <message>
        <source>Half holds almost twice the context; replies may differ slightly.</source>
        <translation>“减半”可容纳近两倍的上下文，回复可能略有不同。</translation>
    </message>
    <message>
        <source>Same seed, same reply, except where two words are nearly tied.</source>
        <translation>种子相同则回复相同；两个词几乎持平时除外。</translation>
    </message>
</context>
<context>
    <name>SchemaField</name>
    <message>
        <source>Too long: at most %1 characters.</source>
        <translation>太长：最多 %1 个字符。</translation>
    </message>
    <message>
        <source>Not JSON: look at line %1.</source>
        <translation>不是 JSON：请检查第 %1 行。</translation>
    </message>
    <message>
        <source>Not JSON: look at line %1. The last schema that worked stays.</source>
        <translation>不是 JSON：请检查第 %1 行。继续使用上一个有效的 Schema。</translation>
    </message>
    <message>
        <source>A JSON schema is an object, in braces. The last schema that worked stays.</source>
        <translation>JSON Schema 是花括号中的对象。继续使用上一个有效的 Schema。</translation>
    </message>
    <message>
        <source>Replies cannot be held to this: %1</source>
        <translation>回复无法遵守此 Schema：%1</translation>
    </message>
    <message>
        <source>Free text</source>
        <translation>自由文本</translation>
    </message>
    <message>
        <source>List</source>
        <translation>列表</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Keys and values</source>
        <translation>键和值</translation>
    </message>
    <message>
        <source>JSON schema</source>
        <translation>JSON Schema</translation>
    </message>
    <message>
        <source>Columns: name, year, price</source>
        <translation>列：名称、年份、价格</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>列</translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message>
        <source>Clear</source>
        <translation>清除</translation>
    </message>
</context>
<context>
    <name>Server</name>
    <message>
        <source>Off</source>
        <translation>已关闭</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>正在停止…</translation>
    </message>
    <message>
        <source>Running at %1</source>
        <translation>正在 %1 运行</translation>
    </message>
    <message>
        <source>The key cannot be read. Unlock the keychain and start Hunch again, or make a new key.</source>
        <translation>无法读取密钥。请解锁钥匙串并重新启动 Hunch，或生成新密钥。</translation>
    </message>
    <message>
        <source>Port %1 is taken by another program.</source>
        <translation>端口 %1 已被其他程序占用。</translation>
    </message>
    <message>
        <source>The system does not allow port %1.</source>
        <translation>系统不允许使用端口 %1。</translation>
    </message>
    <message>
        <source>The server could not start. The log says why.</source>
        <translation>服务器无法启动。原因见日志。</translation>
    </message>
</context>
<context>
    <name>ServerCard</name>
    <message numerus="yes">
        <source>%Ln tool(s)</source>
        <translation>
            <numerusform>%Ln 个工具</numerusform>
        </translation>
    </message>
    <message>
        <source>What it offers</source>
        <translation>提供的工具</translation>
    </message>
    <message>
        <source>What it wrote last (stderr)</source>
        <translation>最后的输出（stderr）</translation>
    </message>
    <message>
        <source>Get %1…</source>
        <translation>获取 %1…</translation>
    </message>
    <message>
        <source>Restart</source>
        <translation>重新启动</translation>
    </message>
    <message>
        <source>Restart %1</source>
        <translation>重新启动 %1</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>移除 %1</translation>
    </message>
    <message>
        <source>Sign In…</source>
        <translation>登录…</translation>
    </message>
    <message>
        <source>Cancel Sign-In</source>
        <translation>取消登录</translation>
    </message>
    <message>
        <source>Sign Out</source>
        <translation>退出登录</translation>
    </message>
    <message>
        <source>Set.</source>
        <translation>已设置。</translation>
    </message>
    <message>
        <source>Not set.</source>
        <translation>未设置。</translation>
    </message>
</context>
<context>
    <name>ServerMenu</name>
    <message>
        <source>Use another port</source>
        <translation>使用其他端口</translation>
    </message>
    <message>
        <source>Server Settings…</source>
        <translation>服务器设置…</translation>
    </message>
    <message>
        <source>The server is not running</source>
        <translation>服务器未运行</translation>
    </message>
    <message>
        <source>Turn Server Off</source>
        <translation>关闭服务器</translation>
    </message>
    <message>
        <source>Turn Server On</source>
        <translation>打开服务器</translation>
    </message>
</context>
<context>
    <name>ServerPage</name>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln 分钟</numerusform>
        </translation>
    </message>
    <message>
        <source>Server for other programs</source>
        <translation>供其他程序使用的服务器</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>使用 %1</translation>
    </message>
    <message>
        <source>Another port</source>
        <translation>其他端口</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>密钥</translation>
    </message>
    <message>
        <source>Programs without it are refused.</source>
        <translation>没有密钥的程序会被拒绝。</translation>
    </message>
    <message>
        <source>No key. Any program on this Mac can connect.</source>
        <translation>无密钥。这台 Mac 上的任何程序都可连接。</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>隐藏</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>连接</translation>
    </message>
    <message>
        <source>Access</source>
        <translation>访问权限</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>端口</translation>
    </message>
    <message>
        <source>New key</source>
        <translation>新密钥</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>Other machines in this network</source>
        <translation>此网络中的其他设备</translation>
    </message>
    <message>
        <source>They need the key. Not encrypted: others can read along.</source>
        <translation>需要密钥。未加密：网络中的其他人可能读到内容。</translation>
    </message>
    <message>
        <source>Answer to any model name</source>
        <translation>响应任意模型名称</translation>
    </message>
    <message>
        <source>Unknown ones mean the model that you chose.</source>
        <translation>未知名称由你选择的模型响应。</translation>
    </message>
    <message>
        <source>Load other models for programs</source>
        <translation>为程序加载其他模型</translation>
    </message>
    <message>
        <source>Only while you are not chatting. Unloads after this long.</source>
        <translation>仅在你未对话时加载，闲置达到此时长后卸载。</translation>
    </message>
    <message>
        <source>Programs never see chats, files or settings. Your messages come first.</source>
        <translation>程序看不到对话、文件或设置。你的消息优先。</translation>
    </message>
</context>
<context>
    <name>SettingsWindow</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>General</source>
        <translation>通用</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Installed, downloads, folders, deleting.</source>
        <translation>已安装的模型、下载、存放模型的文件夹、删除。</translation>
    </message>
    <message>
        <source>Recommended models and search.</source>
        <translation>推荐模型与搜索。</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>活动</translation>
    </message>
    <message>
        <source>Speed-up, accept rate, tokens per second, statistics.</source>
        <translation>每条回复的加速、接受率、每秒 token 数；统计。</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>查找模型</translation>
    </message>
    <message>
        <source>Requests and totals</source>
        <translation>请求与合计</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>对话</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>工具</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>服务器</translation>
    </message>
    <message>
        <source>Other Macs</source>
        <translation>其他 Mac</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>高级</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>搜索设置</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>没有找到结果。</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>页面</translation>
    </message>
</context>
<context>
    <name>Shortcuts</name>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>In a chat</source>
        <translation>在对话中</translation>
    </message>
    <message>
        <source>New line</source>
        <translation>换行</translation>
    </message>
    <message>
        <source>Use a prompt or preset</source>
        <translation>使用提示词或预设</translation>
    </message>
    <message>
        <source>Stop reply or cancel editing</source>
        <translation>停止回复，或取消编辑</translation>
    </message>
    <message>
        <source>Previous message</source>
        <translation>上一条消息</translation>
    </message>
    <message>
        <source>Next message</source>
        <translation>下一条消息</translation>
    </message>
    <message>
        <source>Select text</source>
        <translation>选择文本</translation>
    </message>
    <message>
        <source>On the focused message</source>
        <translation>在焦点所在的消息上</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Previous or next version</source>
        <translation>上一个或下一个版本</translation>
    </message>
    <message>
        <source>Show or hide thinking</source>
        <translation>显示或隐藏思考</translation>
    </message>
    <message>
        <source>Open or close folder</source>
        <translation>展开或收起文件夹</translation>
    </message>
    <message>
        <source>Open menu</source>
        <translation>打开菜单</translation>
    </message>
    <message>
        <source>In the chat list</source>
        <translation>在对话列表中</translation>
    </message>
    <message>
        <source>Open chat or folder</source>
        <translation>打开对话或文件夹</translation>
    </message>
    <message>
        <source>Select several chats</source>
        <translation>选择多个对话</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>重命名</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Unpin Chat</source>
        <translation>取消置顶对话</translation>
    </message>
    <message>
        <source>Pin Chat</source>
        <translation>置顶对话</translation>
    </message>
    <message>
        <source>Delete Chat</source>
        <translation>删除对话</translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>删除 %Ln 个对话</numerusform>
        </translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新建对话</translation>
    </message>
    <message>
        <source>Hide sidebar</source>
        <translation>隐藏侧边栏</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>搜索对话</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>没有找到结果。</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>对话</translation>
    </message>
</context>
<context>
    <name>SpeculationActions</name>
    <message>
        <source>Draft length is now fixed.</source>
        <translation>草稿长度已固定。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Drafting is off for this pair. Auto turns it on.</source>
        <translation>已为此模型组合关闭草稿模型。选择“自动”即可重新打开。</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>竞速…</translation>
    </message>
</context>
<context>
    <name>SpeculationCard</name>
    <message>
        <source>Use a draft</source>
        <translation>使用草稿模型</translation>
    </message>
    <message>
        <source>Tokens to draft</source>
        <translation>草稿 token 数</translation>
    </message>
    <message>
        <source>Turn on</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>Draft on battery</source>
        <translation>使用电池时也用草稿模型</translation>
    </message>
    <message>
        <source>Off pauses it in chats until power is back.</source>
        <translation>关闭后，接通电源前对话不使用草稿模型。</translation>
    </message>
    <message>
        <source>Drafters at 4 bits</source>
        <translation>专用草稿模型用 4 位</translation>
    </message>
    <message>
        <source>Faster, a third of the memory, nearly as many guesses right. Needs a restart.</source>
        <translation>更快，内存只占三分之一，猜中的几乎一样多。需要重启。</translation>
    </message>
    <message>
        <source>Off for this pair</source>
        <translation>已为此组合关闭</translation>
    </message>
    <message>
        <source>You turned it off: drafting was slower.</source>
        <translation>使用草稿模型更慢，因此你已关闭。</translation>
    </message>
</context>
<context>
    <name>SpeculationControls</name>
    <message>
        <source>Main model only.</source>
        <translation>只使用主模型。</translation>
    </message>
    <message>
        <source>Pauses while that is slower.</source>
        <translation>变慢时暂停。</translation>
    </message>
    <message>
        <source>This chat only.</source>
        <translation>仅此对话。</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Fixed</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>Drafts only while that is faster.</source>
        <translation>仅在更快时使用草稿模型。</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自动</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>草稿模型</translation>
    </message>
    <message>
        <source>Tokens to draft</source>
        <translation>草稿 token 数</translation>
    </message>
</context>
<context>
    <name>StationCard</name>
    <message>
        <source>No other Mac</source>
        <translation>不用其他 Mac</translation>
    </message>
    <message>
        <source>Drafts for this Mac</source>
        <translation>为这台 Mac 起草</translation>
    </message>
    <message>
        <source>A paired Mac can run the draft too, and prepare the next one meanwhile. Same text.</source>
        <translation>已配对的 Mac 也可以运行草稿模型，提前备好下一份草稿。文字不变。</translation>
    </message>
    <message>
        <source>Copying the draft to %1: %2</source>
        <translation>正在将草稿模型拷贝到 %1：%2</translation>
    </message>
    <message>
        <source>%1 runs part of the model, so this Mac drafts.</source>
        <translation>%1 正在运行模型的一部分，因此由这台 Mac 起草。</translation>
    </message>
</context>
<context>
    <name>TemplateDialog</name>
    <message>
        <source>Chat template of %1</source>
        <translation>%1 的对话模板</translation>
    </message>
    <message>
        <source>How chats are formatted for the model.</source>
        <translation>将对话整理给模型的格式。</translation>
    </message>
    <message>
        <source>No readable chat template found.</source>
        <translation>没有可读取的对话模板。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
</context>
<context>
    <name>ThinkingField</name>
    <message>
        <source>Up to a limit</source>
        <translation>设定上限</translation>
    </message>
    <message>
        <source>Tokens of thinking</source>
        <translation>思考的 token 数</translation>
    </message>
</context>
<context>
    <name>ToolLine</name>
    <message>
        <source>All of %1</source>
        <translation>%1 的全部工具</translation>
    </message>
</context>
<context>
    <name>Tools</name>
    <message>
        <source>%1 s</source>
        <translation>%1 秒</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>running…</source>
        <translation>运行中…</translation>
    </message>
    <message>
        <source>declined</source>
        <translation>未允许</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>not known whether it ran</source>
        <translation>不确定是否已运行</translation>
    </message>
    <message>
        <source>Calculated %1</source>
        <translation>已计算 %1</translation>
    </message>
    <message>
        <source>Calculate %1</source>
        <translation>计算 %1</translation>
    </message>
    <message>
        <source>Looked up the date and time</source>
        <translation>已查看日期和时间</translation>
    </message>
    <message>
        <source>Look up the date and time</source>
        <translation>查看日期和时间</translation>
    </message>
    <message>
        <source>Searched your chats for %1</source>
        <translation>已在对话中搜索 %1</translation>
    </message>
    <message>
        <source>Search your chats for %1</source>
        <translation>在对话中搜索 %1</translation>
    </message>
    <message>
        <source>Searched the documents for %1</source>
        <translation>已在文档中搜索 %1</translation>
    </message>
    <message>
        <source>Search the documents for %1</source>
        <translation>在文档中搜索 %1</translation>
    </message>
    <message>
        <source>Read %1</source>
        <translation>已读取 %1</translation>
    </message>
    <message>
        <source>Read %1</source>
        <comment>to do</comment>
        <translation>读取 %1</translation>
    </message>
    <message>
        <source>Listed %1</source>
        <translation>已列出 %1</translation>
    </message>
    <message>
        <source>List %1</source>
        <translation>列出 %1</translation>
    </message>
    <message>
        <source>Loaded %1</source>
        <translation>已加载 %1</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>加载 %1</translation>
    </message>
    <message>
        <source>what you chose</source>
        <translation>所选内容</translation>
    </message>
    <message>
        <source>Go on?</source>
        <translation>要继续吗？</translation>
    </message>
    <message>
        <source>%1?</source>
        <translation>%1：要允许吗？</translation>
    </message>
    <message>
        <source>Allow %1 to use %2?</source>
        <translation>要允许 %1 使用 %2 吗？</translation>
    </message>
    <message>
        <source>This tool has changed since you allowed it. Both descriptions are below.</source>
        <translation>允许之后，此工具已更改。两份说明都在下方。</translation>
    </message>
    <message>
        <source>You allowed this, but the chat has read content from outside, which may have asked for it.</source>
        <translation>此工具已获允许，但对话读取过外部内容，调用可能是那些内容要求的。</translation>
    </message>
    <message>
        <source>An equal call was sent before Hunch ended, and may have run already.</source>
        <translation>Hunch 退出前已发送过相同的调用，可能已经运行。</translation>
    </message>
    <message>
        <source>Many calls have run without a question. Is this still what you want?</source>
        <translation>已连续进行多次未询问的调用。要继续吗？</translation>
    </message>
    <message>
        <source>This reply has taken many steps.</source>
        <translation>此回复已进行了很多步骤。</translation>
    </message>
    <message>
        <source>When you allowed it</source>
        <translation>允许时</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>No arguments</source>
        <translation>无参数</translation>
    </message>
    <message>
        <source>Reads this file, and nothing else.</source>
        <translation>仅读取此文件。</translation>
    </message>
    <message>
        <source>Reads the names of what is in this folder.</source>
        <translation>读取此文件夹中各项的名称。</translation>
    </message>
    <message>
        <source>Loads this page. Its server sees your IP address.</source>
        <translation>加载此网页。对方服务器会看到你的 IP 地址。</translation>
    </message>
    <message>
        <source>Searches your chats and their attachments.</source>
        <translation>搜索对话及其附件。</translation>
    </message>
    <message>
        <source>Only reads, says its server. Hunch cannot check that.</source>
        <translation>服务器称其只读取。Hunch 无法核实。</translation>
    </message>
    <message>
        <source>It may change or send something.</source>
        <translation>可能会更改或发送内容。</translation>
    </message>
    <message>
        <source>Answer now</source>
        <translation>立即回答</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>继续</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <translation>不允许</translation>
    </message>
    <message>
        <source>Allow once</source>
        <translation>允许一次</translation>
    </message>
    <message>
        <source>In this chat</source>
        <translation>在此对话中允许</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>始终允许</translation>
    </message>
    <message>
        <source>%1 is not called, and the model is told so</source>
        <translation>不调用 %1，并告知模型</translation>
    </message>
    <message>
        <source>Allow %1 once, with these arguments</source>
        <translation>仅允许 %1 使用这些参数调用一次</translation>
    </message>
    <message>
        <source>Allow %1 in this chat, with any arguments</source>
        <translation>在此对话中允许 %1，参数不限</translation>
    </message>
    <message>
        <source>Allow %1 in every chat, with any arguments</source>
        <translation>在所有对话中允许 %1，参数不限</translation>
    </message>
    <message>
        <source>Allow %1 in this chat, for addresses on this server</source>
        <translation>在此对话中允许 %1 用于此服务器上的网址</translation>
    </message>
    <message>
        <source>Allow %1 in every chat, for addresses on this server</source>
        <translation>在所有对话中允许 %1 用于此服务器上的网址</translation>
    </message>
    <message>
        <source>Built in</source>
        <translation>内置</translation>
    </message>
    <message>
        <source>Calculator</source>
        <translation>计算器</translation>
    </message>
    <message>
        <source>Arithmetic, exactly. Never asks.</source>
        <translation>精确计算。不会询问。</translation>
    </message>
    <message>
        <source>Date and time</source>
        <translation>日期和时间</translation>
    </message>
    <message>
        <source>What day and time it is, here and elsewhere. Never asks.</source>
        <translation>查看本地和其他地区的日期与时间。不会询问。</translation>
    </message>
    <message>
        <source>Search in chats</source>
        <translation>搜索对话</translation>
    </message>
    <message>
        <source>Finds words in your chats and their attachments.</source>
        <translation>在对话及其附件中查找文字。</translation>
    </message>
    <message>
        <source>Read files</source>
        <translation>读取文件</translation>
    </message>
    <message>
        <source>Only those that you choose for a chat.</source>
        <translation>仅限你为对话选择的内容。</translation>
    </message>
    <message>
        <source>List folders</source>
        <translation>列出文件夹</translation>
    </message>
    <message>
        <source>Search documents</source>
        <translation>搜索文档</translation>
    </message>
    <message>
        <source>Finds passages in those of the chat and its project. Never asks.</source>
        <translation>在对话及其项目的文档中查找相关段落。不会询问。</translation>
    </message>
    <message>
        <source>Only documents, and those that you choose for a chat.</source>
        <translation>只读取文档，以及你为对话选择的文件。</translation>
    </message>
    <message>
        <source>Load a web page</source>
        <translation>加载网页</translation>
    </message>
    <message>
        <source>Only one whose address you typed or allowed.</source>
        <translation>仅限你输入或允许的网址。</translation>
    </message>
    <message>
        <source>%1 cannot use tools.</source>
        <translation>%1 无法使用工具。</translation>
    </message>
    <message>
        <source>No other installed model can.</source>
        <translation>其他已安装的模型也无法使用。</translation>
    </message>
    <message>
        <source>Installed and able to: %1.</source>
        <translation>可用的已安装模型：%1。</translation>
    </message>
    <message>
        <source>Runs without asking.</source>
        <translation>已允许，不再询问。</translation>
    </message>
    <message>
        <source>Ask again</source>
        <translation>恢复询问</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Starts when a chat first needs it</source>
        <translation>对话首次需要时启动</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>正在启动…</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>正在运行</translation>
    </message>
    <message>
        <source>Looking for its sign-in…</source>
        <translation>正在查找登录页面…</translation>
    </message>
    <message>
        <source>Sign in at %1, in your browser.</source>
        <translation>请在浏览器中登录 %1。</translation>
    </message>
    <message>
        <source>Hunch has what it needs. You can close this page.</source>
        <translation>Hunch 已收到所需信息。可以关闭此页面。</translation>
    </message>
    <message>
        <source>You did not sign in. You can close this page.</source>
        <translation>没有登录。可以关闭此页面。</translation>
    </message>
    <message>
        <source>This is not the sign-in that Hunch is waiting for.</source>
        <translation>这不是 Hunch 正在等待的登录。</translation>
    </message>
    <message>
        <source>Needs %1, which is not on this Mac.</source>
        <translation>需要 %1，但这台 Mac 上没有。</translation>
    </message>
    <message>
        <source>Its folder %1 does not exist.</source>
        <translation>文件夹 %1 不存在。</translation>
    </message>
    <message>
        <source>Needs a value for %1.</source>
        <translation>需要 %1 的值。</translation>
    </message>
    <message>
        <source>Cannot be started: %1</source>
        <translation>无法启动：%1</translation>
    </message>
    <message>
        <source>It ended by itself (%1).</source>
        <translation>已自行退出（%1）。</translation>
    </message>
    <message>
        <source>It sent more than %1 MB at once and was stopped.</source>
        <translation>一次发送超过 %1 MB，已停止。</translation>
    </message>
    <message>
        <source>No answer in %1 seconds.</source>
        <translation>%1 秒内没有响应。</translation>
    </message>
    <message>
        <source>It refused: %1</source>
        <translation>已拒绝：%1</translation>
    </message>
    <message>
        <source>Cannot be reached: %1</source>
        <translation>无法连接：%1</translation>
    </message>
    <message>
        <source>It wants a sign-in (%1). A key in its headers may do.</source>
        <translation>需要登录（%1）。在标头中设置密钥也许可行。</translation>
    </message>
    <message>
        <source>The sign-in took more than %1 minutes.</source>
        <translation>登录超过了 %1 分钟。</translation>
    </message>
    <message>
        <source>The sign-in was refused (%1).</source>
        <translation>登录被拒绝（%1）。</translation>
    </message>
    <message>
        <source>It wants the sign-in at %1 now, not where it was before. Sign out first if that is right.</source>
        <translation>登录的位置已不同于之前，现在是 %1。如果没有问题，请先退出登录。</translation>
    </message>
    <message>
        <source>A call needs more than you allowed at the sign-in (%1). Sign in again to allow it.</source>
        <translation>有一次调用需要的权限（%1）超出了登录时的授权。如要允许，请重新登录。</translation>
    </message>
    <message>
        <source>%1 cannot be the name of a variable or header.</source>
        <translation>%1 不能用作变量或标头的名称。</translation>
    </message>
    <message>
        <source>The value of %1 cannot be used.</source>
        <translation>%1 的值无法使用。</translation>
    </message>
    <message>
        <source>More than %1 are not taken.</source>
        <translation>最多 %1 个。</translation>
    </message>
    <message>
        <source>Only https addresses, and ones on this Mac.</source>
        <translation>仅限 https 网址和这台 Mac 上的地址。</translation>
    </message>
    <message>
        <source>Its command has characters that cannot be seen.</source>
        <translation>命令中有不可见的字符。</translation>
    </message>
    <message>
        <source>It sent too many messages and was stopped.</source>
        <translation>发送的消息过多，已停止。</translation>
    </message>
    <message>
        <source>It asks for input, which Hunch does not give.</source>
        <translation>它要求输入，Hunch 不予提供。</translation>
    </message>
    <message>
        <source>Sign in to use it.</source>
        <translation>登录后才能使用。</translation>
    </message>
    <message>
        <source>It offers no sign-in that Hunch can use. A key in its headers may do.</source>
        <translation>它没有提供 Hunch 可用的登录方式。在标头中设置密钥也许可行。</translation>
    </message>
    <message>
        <source>Its sign-in is only for apps that it knows. A key in its headers may do.</source>
        <translation>它只允许已登记的应用登录。在标头中设置密钥也许可行。</translation>
    </message>
    <message>
        <source>The sign-in failed.</source>
        <translation>登录失败。</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>It closed its connection.</source>
        <translation>它关闭了连接。</translation>
    </message>
    <message>
        <source>It speaks another version of MCP.</source>
        <translation>它使用另一个版本的 MCP。</translation>
    </message>
    <message>
        <source>Hunch&apos;s part for tools ended. The next call starts it again.</source>
        <translation>Hunch 的工具进程已结束，下次调用时会重新启动。</translation>
    </message>
    <message>
        <source>Hunch&apos;s part for tools cannot be started.</source>
        <translation>无法启动 Hunch 的工具进程。</translation>
    </message>
    <message>
        <source>What it was to be called with is not valid.</source>
        <translation>调用参数无效。</translation>
    </message>
    <message>
        <source>It does not speak the protocol of tool servers (MCP).</source>
        <translation>它不使用工具服务器协议（MCP）。</translation>
    </message>
</context>
<context>
    <name>ToolsPage</name>
    <message>
        <source>What a model may do besides writing. Which of them, you choose for each chat, in the composer.</source>
        <translation>模型除写作之外还能做的事。每个对话用哪些，在输入框中选择。</translation>
    </message>
    <message>
        <source>Tool servers (MCP)</source>
        <translation>工具服务器（MCP）</translation>
    </message>
    <message>
        <source>Add a server</source>
        <translation>添加服务器</translation>
    </message>
    <message>
        <source>None yet. A server gives models more tools: for files, calendars, code, the web and others.</source>
        <translation>尚无服务器。服务器可为模型增加工具：文件、日历、代码、网页等。</translation>
    </message>
</context>
<context>
    <name>Totals</name>
    <message>
        <source>By pair</source>
        <translation>按模型组合</translation>
    </message>
    <message>
        <source>By language</source>
        <translation>按语言</translation>
    </message>
    <message>
        <source>By content</source>
        <translation>按内容</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>English</source>
        <translation>英语</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>韩语</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>日语</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>中文</translation>
    </message>
    <message>
        <source>Prose</source>
        <translation>文章</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>代码</translation>
    </message>
    <message>
        <source>Lists and tables</source>
        <translation>列表与表格</translation>
    </message>
    <message>
        <source>Other</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>Clear all statistics?</source>
        <translation>要清除全部统计吗？</translation>
    </message>
    <message>
        <source>Chats and their figures stay.</source>
        <translation>对话和回复下方的数据会保留。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln reply(s)</source>
        <translation>
            <numerusform>%Ln 条回复</numerusform>
        </translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>清除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Totals</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>Totals appear after the first reply.</source>
        <translation>首次回复后显示合计。</translation>
    </message>
    <message>
        <source>Clear statistics…</source>
        <translation>清除统计…</translation>
    </message>
</context>
<context>
    <name>TranscriptMenu</name>
    <message>
        <source>Copy</source>
        <translation>拷贝</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>拷贝为 Markdown</translation>
    </message>
    <message>
        <source>Quote</source>
        <translation>引用</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>全选</translation>
    </message>
    <message>
        <source>Copy as TeX</source>
        <translation>拷贝为 TeX</translation>
    </message>
    <message>
        <source>Copy Link</source>
        <translation>拷贝链接</translation>
    </message>
</context>
<context>
    <name>TranscriptView</name>
    <message>
        <source>Your message, %1 of %2</source>
        <translation>我的消息，第 %1 条，共 %2 条</translation>
    </message>
    <message>
        <source>Reply, message %1 of %2</source>
        <translation>回复，第 %1 条消息，共 %2 条</translation>
    </message>
    <message>
        <source>Footnote %1</source>
        <translation>脚注 %1</translation>
    </message>
    <message>
        <source>Back from footnote %1</source>
        <translation>从脚注 %1 返回正文</translation>
    </message>
    <message>
        <source>Link: %1</source>
        <translation>链接：%1</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>消息</translation>
    </message>
</context>
<context>
    <name>Trash</name>
    <message>
        <source>Messages in “%1”</source>
        <translation>“%1”中的消息</translation>
    </message>
    <message>
        <source>deleted today</source>
        <translation>今天删除</translation>
    </message>
    <message>
        <source>deleted yesterday</source>
        <translation>昨天删除</translation>
    </message>
    <message>
        <source>deleted on %1</source>
        <translation>于 %1 删除</translation>
    </message>
</context>
<context>
    <name>TrashMenu</name>
    <message>
        <source>Restore “%1”</source>
        <translation>恢复“%1”</translation>
    </message>
    <message>
        <source>Restore Messages in “%1”</source>
        <translation>恢复“%1”中的消息</translation>
    </message>
    <message>
        <source>Nothing in the last 30 days</source>
        <translation>最近 30 天没有删除的项目</translation>
    </message>
    <message>
        <source>Show All…</source>
        <translation>显示全部…</translation>
    </message>
</context>
<context>
    <name>TrashWindow</name>
    <message numerus="yes">
        <source>Permanently delete %Ln item(s)?</source>
        <translation>
            <numerusform>要永久删除 %Ln 项吗？</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete permanently</source>
        <translation>永久删除</translation>
    </message>
    <message>
        <source>Empty Recently Deleted?</source>
        <translation>要清空“最近删除”吗？</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>清空</translation>
    </message>
    <message>
        <source>Backups included. This cannot be undone.</source>
        <translation>备份中的内容也会删除，且无法撤销。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Recently Deleted</source>
        <translation>最近删除</translation>
    </message>
    <message>
        <source>Nothing deleted in the last 30 days.</source>
        <translation>最近 30 天没有删除任何内容。</translation>
    </message>
    <message>
        <source>Recently deleted chats and messages</source>
        <translation>最近删除的对话和消息</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Delete permanently…</source>
        <translation>永久删除…</translation>
    </message>
    <message>
        <source>Empty…</source>
        <translation>清空…</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Open Hunch</source>
        <translation>打开 Hunch</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>快速提问…</translation>
    </message>
    <message>
        <source>New Chat</source>
        <translation>新建对话</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>退出 Hunch</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>未加载模型</translation>
    </message>
    <message>
        <source>No model in memory</source>
        <translation>内存中没有模型</translation>
    </message>
    <message>
        <source>Loading %1…</source>
        <translation>正在加载 %1…</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>无法加载 %1</translation>
    </message>
    <message numerus="yes">
        <source>%Ln reply(s) being written</source>
        <translation>
            <numerusform>正在生成 %Ln 条回复</numerusform>
        </translation>
    </message>
    <message>
        <source>Not writing</source>
        <translation>没有正在生成的回复</translation>
    </message>
</context>
<context>
    <name>UnseenNote</name>
    <message>
        <source>%1 only answers about pictures.</source>
        <translation>%1 只能回答与图片有关的问题。</translation>
    </message>
    <message>
        <source>%1 cannot see pictures.</source>
        <translation>%1 无法识别图片。</translation>
    </message>
    <message>
        <source>%1 can, about %2.</source>
        <translation>%1 可以（约 %2）。</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>使用 %1</translation>
    </message>
    <message>
        <source>Install %1</source>
        <translation>安装 %1</translation>
    </message>
    <message>
        <source>Find one that can</source>
        <translation>查找可识别的模型</translation>
    </message>
</context>
<context>
    <name>Updates</name>
    <message>
        <source>Hunch %1 is available</source>
        <translation>Hunch %1 已发布</translation>
    </message>
    <message>
        <source>What&apos;s New</source>
        <translation>新功能</translation>
    </message>
    <message>
        <source>To update, run in a terminal: %1</source>
        <translation>要更新，请在终端中运行：%1</translation>
    </message>
    <message>
        <source>Hunch %1</source>
        <translation>Hunch %1</translation>
    </message>
    <message>
        <source>Open Page</source>
        <translation>打开页面</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Copy Command</source>
        <translation>拷贝命令</translation>
    </message>
</context>
<context>
    <name>WaitingStart</name>
    <message>
        <source>Your chats are open on %1.</source>
        <translation>你的对话正在 %1 上打开。</translation>
    </message>
    <message>
        <source>Quit Hunch there first.</source>
        <translation>请先在那里退出 Hunch。</translation>
    </message>
    <message>
        <source>Another copy of Hunch has your chats open and is not responding.</source>
        <translation>另一个 Hunch 打开着你的对话，但没有响应。</translation>
    </message>
    <message>
        <source>Force quit it if it does not quit by itself.</source>
        <translation>如果它没有自行退出，请强制退出。</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>退出 Hunch</translation>
    </message>
</context>
<context>
    <name>YoursPage</name>
    <message>
        <source>Models folder</source>
        <translation>存放模型的文件夹</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>已安装</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>刷新</translation>
    </message>
    <message>
        <source>More folders</source>
        <translation>其他文件夹</translation>
    </message>
    <message>
        <source>Their models are listed, never changed.</source>
        <translation>也列出这些文件夹中的模型，不会改动其内容。</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>添加文件夹…</translation>
    </message>
</context>
<context>
    <name>_Calls</name>
    <message numerus="yes">
        <source>Allow %1 to make %Ln call(s)?</source>
        <translation>
            <numerusform>要允许 %1 进行 %Ln 次调用吗？</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Counts</name>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>%Ln 条消息</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln day(s) left</source>
        <translation>
            <numerusform>剩余 %Ln 天</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln download(s)</source>
        <translation>
            <numerusform>%Ln 次下载</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln 个 token</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln tool(s) on</source>
        <translation>
            <numerusform>%Ln 个工具已打开</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Passes</name>
    <message numerus="yes">
        <source>Without a draft: %1 tok/s, measured on %Ln token(s). Between %2× and %3×.</source>
        <translation>
            <numerusform>不用草稿模型：每秒 %1 token（由 %Ln 个 token 测得）。在 %2 至 %3 倍之间。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_RaceCounts</name>
    <message numerus="yes">
        <source>Same text: %Ln token(s).</source>
        <translation>
            <numerusform>文本相同：%Ln 个 token。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Median of %Ln pair(s) of laps.</source>
        <translation>
            <numerusform>%Ln 组的中位数。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Words</name>
    <message numerus="yes">
        <source>Copied without %Ln control character(s)</source>
        <translation>
            <numerusform>已拷贝，去掉了 %Ln 个控制字符</numerusform>
        </translation>
    </message>
</context>
</TS>
