<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ja" sourcelanguage="en">
<context>
    <name>About</name>
    <message>
        <source>Hunch %1</source>
        <translation>Hunch %1</translation>
    </message>
    <message>
        <source>Build %1</source>
        <translation>ビルド %1</translation>
    </message>
    <message>
        <source>A small draft guesses, the main model checks.</source>
        <translation>小さなドラフトが予測し、メインモデルが確かめます。</translation>
    </message>
    <message>
        <source>Apache License 2.0.</source>
        <translation>Apache License 2.0。</translation>
    </message>
    <message>
        <source>Licenses</source>
        <translation>ライセンス</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>ActivityWindow</name>
    <message>
        <source>Activity</source>
        <translation>アクティビティ</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>リクエスト</translation>
    </message>
    <message>
        <source>Totals</source>
        <translation>合計</translation>
    </message>
    <message>
        <source>Replies appear here as they are written.</source>
        <translation>作成中の回答がここに表示されます。</translation>
    </message>
</context>
<context>
    <name>AddCard</name>
    <message>
        <source>That is no command, no address and no JSON with servers.</source>
        <translation>コマンド、URL、サーバを含む JSON のいずれでもありません。</translation>
    </message>
    <message>
        <source>Added, and off until you turn it on: %1</source>
        <translation>追加しました。オンにするまでは動きません：%1</translation>
    </message>
    <message>
        <source>Nothing new was found.</source>
        <translation>新しいものは見つかりませんでした。</translation>
    </message>
    <message>
        <source>Command, address or JSON</source>
        <translation>コマンド、URL、または JSON</translation>
    </message>
    <message>
        <source>Such as %1 or %2. Keys in it go to the keychain.</source>
        <translation>例：%1 または %2。含まれるキーはキーチェーンに保存されます。</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>追加</translation>
    </message>
</context>
<context>
    <name>AdvancedPage</name>
    <message>
        <source>Reset all settings?</source>
        <translation>すべての設定をリセットしますか？</translation>
    </message>
    <message>
        <source>Chats, models, presets, system prompt and hub access stay.</source>
        <translation>チャット、モデル、プリセット、システムプロンプト、ハブへの接続は残ります。</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>リセット</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Hub</source>
        <translation>ハブ</translation>
    </message>
    <message>
        <source>Hunch</source>
        <translation>Hunch</translation>
    </message>
    <message>
        <source>Reset…</source>
        <translation>リセット…</translation>
    </message>
    <message>
        <source>Data folder</source>
        <translation>データフォルダ</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>ログ</translation>
    </message>
    <message>
        <source>Errors, never chat text.</source>
        <translation>エラーの記録です。チャットの内容は含まれません。</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>すべての設定をリセット</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>ドラフト</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>表示</translation>
    </message>
    <message>
        <source>Use OpenBLAS</source>
        <translation>OpenBLAS を使う</translation>
    </message>
    <message>
        <source>Much faster, but a draft may change replies. Needs a restart.</source>
        <translation>ずっと高速ですが、ドラフトが回答を変えることがあります。再起動が必要です。</translation>
    </message>
    <message>
        <source>Use Fusion style</source>
        <translation>Fusion スタイルを使う</translation>
    </message>
    <message>
        <source>If controls look wrong.</source>
        <translation>表示がおかしいときに使います。</translation>
    </message>
</context>
<context>
    <name>AppOffer</name>
    <message>
        <source>Hunch then opens from Spotlight and the Dock, like any app.</source>
        <translation>ほかのアプリと同じように、Spotlight や Dock から開けるようになります。</translation>
    </message>
    <message>
        <source>Add Hunch to your Applications?</source>
        <translation>Hunch をアプリケーションに追加しますか？</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>追加</translation>
    </message>
    <message>
        <source>Hunch is in the Applications folder in your home folder.</source>
        <translation>ホームフォルダのアプリケーションフォルダに Hunch を追加しました。</translation>
    </message>
    <message>
        <source>The Applications folder in your home folder cannot be written to.</source>
        <translation>ホームフォルダのアプリケーションフォルダに書き込めません。</translation>
    </message>
    <message>
        <source>Hunch was not added</source>
        <translation>Hunch を追加できませんでした</translation>
    </message>
</context>
<context>
    <name>AppearancePage</name>
    <message>
        <source>Appearance</source>
        <translation>外観モード</translation>
    </message>
    <message>
        <source>Auto matches the system theme.</source>
        <translation>「自動」はシステムのテーマに合わせます。</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>文字サイズ</translation>
    </message>
    <message>
        <source>Now dark.</source>
        <translation>現在はダークです。</translation>
    </message>
    <message>
        <source>Now light.</source>
        <translation>現在はライトです。</translation>
    </message>
    <message>
        <source>Now on.</source>
        <translation>現在はオンです。</translation>
    </message>
    <message>
        <source>Now off.</source>
        <translation>現在はオフです。</translation>
    </message>
    <message>
        <source>Animations</source>
        <translation>アニメーション</translation>
    </message>
    <message>
        <source>Auto follows Reduce Motion.</source>
        <translation>「自動」は「視差効果を減らす」に従います。</translation>
    </message>
    <message>
        <source>Figures under replies</source>
        <translation>回答の下の数値</translation>
    </message>
    <message>
        <source>Speed, accept rate, tokens per pass.</source>
        <translation>速さ、受理率、パスあたりのトークン。</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自動</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>ライト</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>ダーク</translation>
    </message>
    <message>
        <source>On</source>
        <translation>オン</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
</context>
<context>
    <name>Application</name>
    <message>
        <source>Continue without saving</source>
        <translation>保存せずに続ける</translation>
    </message>
    <message>
        <source>Messages recovered: %1 (%2 from backups).</source>
        <translation>メッセージ %1 件を復元しました（うち %2 件はバックアップから）。</translation>
    </message>
    <message>
        <source>The damaged file, with deleted content, stays in %2 as %1 for 30 days.</source>
        <translation>破損したファイルは、削除した内容も含め、%2 に %1 として 30 日間保管されます。</translation>
    </message>
    <message>
        <source>Chats repaired</source>
        <translation>チャットを修復しました</translation>
    </message>
    <message>
        <source>New chats are lost when you quit.</source>
        <translation>新しい内容は終了すると失われます。</translation>
    </message>
    <message>
        <source>Not saving chats</source>
        <translation>チャットは保存されません</translation>
    </message>
    <message>
        <source>Using defaults. The file is unchanged.</source>
        <translation>今回は既定値を使います。ファイルはそのままです。</translation>
    </message>
    <message>
        <source>Settings not read</source>
        <translation>設定を読み込めませんでした</translation>
    </message>
    <message>
        <source>The old file is kept as %1.</source>
        <translation>元のファイルは %1 として残っています。</translation>
    </message>
    <message>
        <source>Some settings were reset</source>
        <translation>一部の設定をリセットしました</translation>
    </message>
    <message>
        <source>Settings apply until you quit.</source>
        <translation>終了するまで有効です。</translation>
    </message>
    <message>
        <source>They are too large. Delete presets or shorten system prompts.</source>
        <translation>設定が大きすぎます。プリセットを削除するか、システムプロンプトを短くしてください。</translation>
    </message>
    <message>
        <source>Settings not saved</source>
        <translation>設定は保存されていません</translation>
    </message>
    <message>
        <source>Hunch quit while loading %1. Using the starter pair.</source>
        <translation>%1 の読み込み中に Hunch が終了しました。代わりにスターターペアを使います。</translation>
    </message>
    <message>
        <source>Hunch quit while loading the draft %1.</source>
        <translation>ドラフト %1 の読み込み中に Hunch が終了しました。</translation>
    </message>
    <message>
        <source>Another model is loaded</source>
        <translation>別のモデルを読み込みました</translation>
    </message>
    <message>
        <source>Show Report</source>
        <translation>レポートを表示</translation>
    </message>
    <message>
        <source>You can already type.</source>
        <translation>もう入力できます。</translation>
    </message>
    <message>
        <source>Opening your chats…</source>
        <translation>チャットを開いています…</translation>
    </message>
    <message>
        <source>Your chats are open on %1</source>
        <translation>チャットは %1 で開かれています</translation>
    </message>
    <message>
        <source>Quit Hunch there, or words may be lost.</source>
        <translation>そちらの Hunch を終了してください。終了しないと文章が失われることがあります。</translation>
    </message>
    <message>
        <source>If it is not running there, open them here.</source>
        <translation>そちらで動いていなければ、ここで開いてください。</translation>
    </message>
    <message>
        <source>Open Here</source>
        <translation>ここで開く</translation>
    </message>
    <message>
        <source>No draft model</source>
        <translation>ドラフトモデルなし</translation>
    </message>
    <message>
        <source>Hunch quit unexpectedly. Your chats are safe.</source>
        <translation>Hunch が予期せず終了しました。チャットは無事です。</translation>
    </message>
    <message>
        <source>Your chats need a newer Hunch.</source>
        <translation>チャットを開くには、より新しい Hunch が必要です。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Something went wrong in Hunch</source>
        <translation>Hunch で問題が起きました</translation>
    </message>
</context>
<context>
    <name>AttachmentActions</name>
    <message>
        <source>Attachment too long for this model.</source>
        <translation>添付ファイルがこのモデルには長すぎます。</translation>
    </message>
    <message>
        <source>Keep only its beginning</source>
        <translation>先頭だけを残す</translation>
    </message>
    <message>
        <source>Search in it</source>
        <translation>この中を検索</translation>
    </message>
    <message>
        <source>Attach Files</source>
        <translation>ファイルを添付</translation>
    </message>
    <message>
        <source>Attach only its end</source>
        <translation>末尾だけを添付</translation>
    </message>
</context>
<context>
    <name>AttachmentChip</name>
    <message>
        <source>Picture</source>
        <translation>画像</translation>
    </message>
    <message>
        <source>this model cannot see it</source>
        <translation>このモデルは認識できません</translation>
    </message>
    <message>
        <source>contains a match</source>
        <translation>一致箇所を含む</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 を外す</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <translation>ペーストしたテキスト</translation>
    </message>
    <message>
        <source>From the documents</source>
        <translation>ドキュメントから</translation>
    </message>
    <message>
        <source>not imported</source>
        <translation>取り込まれていません</translation>
    </message>
    <message>
        <source>searched</source>
        <translation>検索対象</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>読み込み中…</translation>
    </message>
    <message>
        <source>Reading… %1</source>
        <translation>読み込み中… %1</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln トークン</numerusform>
        </translation>
    </message>
    <message>
        <source>Open</source>
        <translation>開く</translation>
    </message>
    <message>
        <source>Insert into Message</source>
        <translation>メッセージに挿入</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>外す</translation>
    </message>
</context>
<context>
    <name>AttachmentDialog</name>
    <message>
        <source>Not included in the import.</source>
        <translation>取り込んだチャットに、このファイルはありませんでした。</translation>
    </message>
    <message>
        <source>Page %1</source>
        <translation>%1 ページ</translation>
    </message>
    <message>
        <source>Line %1</source>
        <translation>%1 行目</translation>
    </message>
    <message>
        <source>Open the File</source>
        <translation>ファイルを開く</translation>
    </message>
    <message>
        <source>Show in Folder</source>
        <translation>フォルダに表示</translation>
    </message>
    <message>
        <source>Insert into Message</source>
        <translation>メッセージに挿入</translation>
    </message>
    <message>
        <source>Remove from Message</source>
        <translation>メッセージから外す</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>BeginningPart</name>
    <message>
        <source>The model reads from here on</source>
        <translation>モデルはここから先を読みます</translation>
    </message>
    <message>
        <source>The model reads this summary, and what follows</source>
        <translation>モデルはこの要約とその先を読みます</translation>
    </message>
    <message>
        <source>Summary of earlier messages</source>
        <translation>前のメッセージの要約</translation>
    </message>
    <message>
        <source>Show what is left out</source>
        <translation>読まれない内容を表示</translation>
    </message>
</context>
<context>
    <name>CallPart</name>
    <message>
        <source>Hide the call</source>
        <translation>呼び出しの内容を隠す</translation>
    </message>
    <message>
        <source>Show the call</source>
        <translation>呼び出しの内容を表示</translation>
    </message>
</context>
<context>
    <name>CallTextPart</name>
    <message>
        <source>Arguments</source>
        <translation>引数</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>結果</translation>
    </message>
    <message>
        <source>What went wrong</source>
        <translation>エラーの内容</translation>
    </message>
    <message>
        <source>Copy result</source>
        <translation>結果をコピー</translation>
    </message>
    <message>
        <source>Copy arguments</source>
        <translation>引数をコピー</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Send with</source>
        <translation>送信キー</translation>
    </message>
    <message>
        <source>Shift-Return starts a new line.</source>
        <translation>Shift + Return は改行です。</translation>
    </message>
    <message>
        <source>Automatic titles</source>
        <translation>自動タイトル</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>通知</translation>
    </message>
    <message>
        <source>When a reply finishes in the background.</source>
        <translation>ほかのアプリを使っている間に回答が終わると通知します。</translation>
    </message>
    <message>
        <source>Show the reply in notifications</source>
        <translation>通知に回答を表示</translation>
    </message>
    <message>
        <source>Ctrl+Return</source>
        <translation>Ctrl+Return</translation>
    </message>
    <message>
        <source>Return</source>
        <translation>Return</translation>
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
        <translation>ピン留め</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>フォルダ</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>今日</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>昨日</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <translation>過去 7 日間</translation>
    </message>
    <message>
        <source>%1 copy</source>
        <comment>the title of a chat&apos;s copy</comment>
        <translation>%1のコピー</translation>
    </message>
    <message>
        <source>%1 copy %2</source>
        <comment>the title of a second or later copy</comment>
        <translation>%1のコピー %2</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>新規フォルダ</translation>
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
        <translation>フォルダ「%1」を削除しますか？</translation>
    </message>
    <message>
        <source>Move contents up</source>
        <translation>中身を 1 つ上に移動</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Delete everything</source>
        <translation>中身も削除</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>チャット %Ln 件</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1と%2</translation>
    </message>
    <message numerus="yes">
        <source>%Ln folder(s)</source>
        <translation>
            <numerusform>フォルダ %Ln 個</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted chats stay in Recently Deleted for 30 days.</source>
        <translation>削除したチャットは 30 日間「最近削除した項目」に残ります。</translation>
    </message>
    <message>
        <source>Contains %1.</source>
        <translation>%1が入っています。</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>新規フォルダ</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>名前を変更…</translation>
    </message>
    <message numerus="yes">
        <source>Export %Ln chat(s)…</source>
        <translation>
            <numerusform>%Ln 件のチャットを書き出す…</numerusform>
        </translation>
    </message>
    <message>
        <source>New Chat Here</source>
        <translation>ここに新規チャット</translation>
    </message>
    <message>
        <source>Project…</source>
        <translation>プロジェクト…</translation>
    </message>
    <message>
        <source>New Subfolder</source>
        <translation>新規サブフォルダ</translation>
    </message>
    <message>
        <source>Move to</source>
        <translation>移動</translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>%Ln 件のチャットを削除</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>削除…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>ピン留めを解除</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>ピン留め</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>複製</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>書き出す…</translation>
    </message>
    <message>
        <source>Folder name</source>
        <translation>フォルダ名</translation>
    </message>
    <message>
        <source>Chat title</source>
        <translation>チャットのタイトル</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
</context>
<context>
    <name>ChatMenu</name>
    <message>
        <source>No Folder</source>
        <translation>フォルダなし</translation>
    </message>
    <message>
        <source>New Folder…</source>
        <translation>新規フォルダ…</translation>
    </message>
</context>
<context>
    <name>ChatRows</name>
    <message>
        <source>level %1</source>
        <translation>階層 %1</translation>
    </message>
    <message>
        <source>open folder</source>
        <translation>開いているフォルダ</translation>
    </message>
    <message>
        <source>closed folder</source>
        <translation>閉じているフォルダ</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>ピン留め済み</translation>
    </message>
    <message>
        <source>writing a reply</source>
        <translation>回答を書いています</translation>
    </message>
    <message>
        <source>new reply</source>
        <translation>新しい回答</translation>
    </message>
    <message>
        <source>unsent text</source>
        <translation>未送信のテキストあり</translation>
    </message>
    <message>
        <source>More in this chat</source>
        <translation>このチャットにほかにもあります</translation>
    </message>
</context>
<context>
    <name>ChatSettings</name>
    <message>
        <source>This model</source>
        <translation>このモデル</translation>
    </message>
    <message>
        <source>This chat</source>
        <translation>このチャット</translation>
    </message>
    <message>
        <source>Settings for</source>
        <translation>設定の対象</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>チャットの設定</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>すべてリセット</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
</context>
<context>
    <name>ChatSettingsButton</name>
    <message>
        <source>Chat settings (changed here)</source>
        <translation>チャットの設定（このチャットで変更あり）</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>チャットの設定</translation>
    </message>
    <message>
        <source>Chat Settings…</source>
        <translation>チャットの設定…</translation>
    </message>
</context>
<context>
    <name>ChatToolsButton</name>
    <message>
        <source>Tools: %1</source>
        <translation>ツール：%1</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>ツール</translation>
    </message>
</context>
<context>
    <name>ChatToolsPanel</name>
    <message>
        <source>Choose a model first.</source>
        <translation>先にモデルを選んでください。</translation>
    </message>
    <message>
        <source>After a change the model reads the whole chat again.</source>
        <translation>変更すると、モデルはチャット全体を読み直します。</translation>
    </message>
    <message>
        <source>Tools in this chat</source>
        <translation>このチャットのツール</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>That is a lot: less of the chat fits, and small models choose worse among many.</source>
        <translation>多めです。チャットに使える分が減り、小さなモデルはうまく選べなくなります。</translation>
    </message>
    <message>
        <source>Manage Tools…</source>
        <translation>ツールを管理…</translation>
    </message>
    <message>
        <source>Find one that can</source>
        <translation>使えるモデルを探す</translation>
    </message>
</context>
<context>
    <name>Clients</name>
    <message>
        <source>Add to %1.</source>
        <translation>%1 に追加します。</translation>
    </message>
    <message>
        <source>Run in a terminal.</source>
        <translation>ターミナルで実行します。</translation>
    </message>
    <message>
        <source>In Xcode, Settings &gt; Intelligence: add a locally hosted provider with port %1.</source>
        <translation>Xcode の「設定」&gt;「インテリジェンス」で、ローカルのプロバイダをポート %1 で追加します。</translation>
    </message>
    <message>
        <source>Already running: add %1 in Admin Panel &gt; Settings &gt; Connections, or %2 if it runs in Docker.</source>
        <translation>すでに実行中の場合は、Admin Panel &gt; Settings &gt; Connections で %1 を追加します。Docker で実行している場合は %2 です。</translation>
    </message>
    <message>
        <source>Run in a terminal. In short: %1</source>
        <translation>ターミナルで実行します。短縮形：%1</translation>
    </message>
    <message>
        <source>%1 works with tools, and %2 calls none.</source>
        <translation>%1 にはツールを呼び出すモデルが必要ですが、%2 はツールを呼び出せません。</translation>
    </message>
    <message>
        <source>%1 needs a context of %2 tokens, and %3 has %4.</source>
        <translation>%1 には %2 トークンのコンテキストが必要ですが、%3 は %4 トークンです。</translation>
    </message>
</context>
<context>
    <name>CodePart</name>
    <message>
        <source>Copy code</source>
        <translation>コードをコピー</translation>
    </message>
    <message>
        <source>text</source>
        <translation>テキスト</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation>コマンドパレット</translation>
    </message>
    <message>
        <source>Search commands, chats, models and settings</source>
        <translation>コマンド、チャット、モデル、設定を検索</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>コマンド</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>コマンド</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>見つかりませんでした。</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Ask anything</source>
        <translation>何でも聞いてください</translation>
    </message>
    <message>
        <source>Ask about a shape or a digit</source>
        <translation>図形や数字について質問する</translation>
    </message>
    <message>
        <source>Ask about Hunch</source>
        <translation>Hunch について質問する</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>メッセージ</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>ファイルを添付</translation>
    </message>
    <message>
        <source>Sends after this reply. Type to edit.</source>
        <translation>回答のあとに送信します。入力すると編集できます。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) too many.</source>
        <translation>
            <numerusform>%Ln トークン超過しています。</numerusform>
        </translation>
    </message>
    <message>
        <source>Still reading an attachment.</source>
        <translation>添付ファイルを読み込み中です。</translation>
    </message>
    <message>
        <source>Still saving your last message.</source>
        <translation>前のメッセージを保存中です。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>送信</translation>
    </message>
</context>
<context>
    <name>ConnectCard</name>
    <message>
        <source>Enter the key there as well.</source>
        <translation>キーもそこで入力します。</translation>
    </message>
    <message>
        <source>Connect a program</source>
        <translation>プログラムを接続</translation>
    </message>
    <message>
        <source>Text to paste</source>
        <translation>ペーストするテキスト</translation>
    </message>
    <message>
        <source>%1 is installed and can serve it.</source>
        <translation>インストール済みの %1 なら使えます。</translation>
    </message>
    <message>
        <source>%1 can serve it: see Models.</source>
        <translation>%1 なら使えます。「モデル」でインストールできます。</translation>
    </message>
</context>
<context>
    <name>ConsentPart</name>
    <message>
        <source>What it would do</source>
        <translation>実行する内容</translation>
    </message>
</context>
<context>
    <name>ContextRing</name>
    <message>
        <source>Context: %1 of %2 tokens</source>
        <translation>コンテキスト：%2 トークン中 %1</translation>
    </message>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>前のメッセージ %Ln 件は読まれません</numerusform>
        </translation>
    </message>
    <message>
        <source>When it is full, the oldest messages are left out</source>
        <translation>いっぱいになると古いメッセージから省きます</translation>
    </message>
    <message>
        <source>%1 of them are the project&apos;s, read once for all its chats</source>
        <translation>うち %1 はプロジェクトの分です。すべてのチャットで一度だけ読み込みます</translation>
    </message>
    <message>
        <source>Limited to %1 tokens (model: %2)</source>
        <translation>%1 トークンに制限（モデルの上限は %2）</translation>
    </message>
    <message>
        <source>Memory holds about %1 tokens (model: %2)</source>
        <translation>メモリに入るのは約 %1 トークン（モデルの上限は %2）</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) too many</source>
        <translation>
            <numerusform>%Ln トークン超過</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 full</source>
        <comment>the context</comment>
        <translation>%1 使用</translation>
    </message>
</context>
<context>
    <name>CopyButton</name>
    <message>
        <source>Copied</source>
        <translation>コピーしました</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
</context>
<context>
    <name>DiscoverPanel</name>
    <message>
        <source>Drafts for %1</source>
        <translation>%1 用のドラフトモデル</translation>
    </message>
    <message>
        <source>Showing Hunch&apos;s built-in list.</source>
        <translation>Hunch 内蔵のリストを表示しています。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln models; others may be missing.</source>
        <translation>
            <numerusform>%Ln 件のモデルが見つかりました。ほかにもあるかもしれません。</numerusform>
        </translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>検索中…</translation>
    </message>
    <message>
        <source>No results. Try fewer words or filters.</source>
        <translation>見つかりませんでした。検索語やフィルタを減らしてみてください。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln models</source>
        <translation>
            <numerusform>%Ln 件のモデル</numerusform>
        </translation>
    </message>
    <message>
        <source>All models</source>
        <translation>すべてのモデル</translation>
    </message>
    <message>
        <source>Search models, or enter author/model</source>
        <translation>モデルを検索、または作成者/モデルを入力</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>モデルを検索</translation>
    </message>
    <message>
        <source>Any family</source>
        <translation>すべての系列</translation>
    </message>
    <message>
        <source>Any precision</source>
        <translation>すべての精度</translation>
    </message>
    <message>
        <source>Up to %1 GB</source>
        <translation>%1 GB 以下</translation>
    </message>
    <message>
        <source>Any size</source>
        <translation>すべてのサイズ</translation>
    </message>
    <message>
        <source>Any kind</source>
        <translation>すべての種類</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>専用ドラフトモデル</translation>
    </message>
    <message>
        <source>Most downloads</source>
        <translation>ダウンロードが多い順</translation>
    </message>
    <message>
        <source>Most likes</source>
        <translation>いいねが多い順</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>新しい順</translation>
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
        <translation>サイズ</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>種類</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>並び順</translation>
    </message>
    <message>
        <source>Runs on this Mac</source>
        <translation>この Mac で動くものだけ</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Show more</source>
        <translation>さらに表示</translation>
    </message>
    <message>
        <source>Models found</source>
        <translation>見つかったモデル</translation>
    </message>
</context>
<context>
    <name>Dock</name>
    <message>
        <source>New Chat</source>
        <translation>新規チャット</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>クイック質問…</translation>
    </message>
</context>
<context>
    <name>DownloadRing</name>
    <message>
        <source>Downloads paused at %1</source>
        <translation>ダウンロードは %1 で一時停止中</translation>
    </message>
    <message>
        <source>Downloading: %1</source>
        <translation>ダウンロード中：%1</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <source>Pause</source>
        <translation>一時停止</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>再開</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Hide files</source>
        <translation>ファイルを隠す</translation>
    </message>
    <message>
        <source>Show files</source>
        <translation>ファイルを表示</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>今すぐ試す</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>リストから削除</translation>
    </message>
    <message>
        <source>Remove and delete download</source>
        <translation>リストから外し、ダウンロード済みの分を削除</translation>
    </message>
    <message>
        <source>Cancel and delete download</source>
        <translation>キャンセルしてダウンロード済みの分を削除</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使う</translation>
    </message>
    <message>
        <source>Open model page</source>
        <translation>モデルのページを開く</translation>
    </message>
    <message>
        <source>The download failed.</source>
        <translation>ダウンロードできませんでした。</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>インストール済み</translation>
    </message>
    <message>
        <source>Contacting hub…</source>
        <translation>ハブに問い合わせ中…</translation>
    </message>
    <message>
        <source>Turn off offline mode to resume.</source>
        <translation>オフラインモードをオフにすると再開します。</translation>
    </message>
    <message>
        <source>Paused at %1</source>
        <translation>%1 で一時停止中</translation>
    </message>
    <message>
        <source>Paused at %1 of %2</source>
        <translation>%2 のうち %1 で一時停止中</translation>
    </message>
</context>
<context>
    <name>Downloads</name>
    <message>
        <source>%1 s left</source>
        <translation>残り %1 秒</translation>
    </message>
    <message>
        <source>%1 min left</source>
        <translation>残り %1 分</translation>
    </message>
    <message>
        <source>%1 h %2 min left</source>
        <translation>残り %1 時間 %2 分</translation>
    </message>
    <message>
        <source>%1 days left</source>
        <translation>残り %1 日</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>%1 per second</source>
        <translation>毎秒 %1</translation>
    </message>
    <message>
        <source>Hub busy. Retrying in %1 s</source>
        <translation>ハブが混雑しています。%1 秒後に再試行</translation>
    </message>
    <message>
        <source>Connection lost. Retrying in %1 s</source>
        <translation>接続が切れました。%1 秒後に再試行</translation>
    </message>
</context>
<context>
    <name>DraftRow</name>
    <message>
        <source>Install</source>
        <translation>インストール</translation>
    </message>
    <message>
        <source>Install both</source>
        <translation>両方インストール</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使う</translation>
    </message>
</context>
<context>
    <name>DropSign</name>
    <message>
        <source>Drop files to attach</source>
        <translation>ファイルをドロップして添付</translation>
    </message>
</context>
<context>
    <name>EditorPart</name>
    <message>
        <source>You</source>
        <translation>自分</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Speaker</source>
        <translation>発言者</translation>
    </message>
    <message>
        <source>Your message</source>
        <translation>自分のメッセージ</translation>
    </message>
    <message>
        <source>Model&apos;s reply</source>
        <translation>モデルの回答</translation>
    </message>
    <message>
        <source>New message</source>
        <translation>新しいメッセージ</translation>
    </message>
    <message>
        <source>Edited message</source>
        <translation>編集中のメッセージ</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>ファイルを添付</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Insert</source>
        <translation>挿入</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>送信</translation>
    </message>
    <message>
        <source>Insert and continue</source>
        <translation>挿入して続きを生成</translation>
    </message>
    <message>
        <source>Save and continue</source>
        <translation>保存して続きを生成</translation>
    </message>
    <message>
        <source>Insert and send</source>
        <translation>挿入して送信</translation>
    </message>
    <message>
        <source>Save only</source>
        <translation>保存のみ</translation>
    </message>
    <message>
        <source>Later messages stay.</source>
        <translation>後のメッセージは残ります。</translation>
    </message>
    <message>
        <source>Generates a new reply.</source>
        <translation>新しい回答を生成します。</translation>
    </message>
    <message>
        <source>The model continues from here.</source>
        <translation>モデルがここから続きを生成します。</translation>
    </message>
</context>
<context>
    <name>EffortButton</name>
    <message>
        <source>Use for All Chats with %1</source>
        <translation>%1 のすべてのチャットで使う</translation>
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
        <translation>先に予測し、まとめて確かめるから、早⁠く⁠読⁠め⁠ま⁠す。</translation>
    </message>
    <message>
        <source>What is speculative decoding?</source>
        <extracomment>Three questions that the starter pair was taught; use the exact words of packaging/starter/guide.</extracomment>
        <translation>投機的デコーディングとは何ですか？</translation>
    </message>
    <message>
        <source>Does drafting change the text?</source>
        <translation>ドラフトを使うと文章は変わりますか？</translation>
    </message>
    <message>
        <source>How do I get better answers?</source>
        <translation>より良い回答を得るには？</translation>
    </message>
    <message>
        <source>The starter pair only knows Hunch. %1: %2.</source>
        <comment>Install a model</comment>
        <translation>スターターペアが知っているのは Hunch のことだけです。%1：%2。</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>モデルが読み込まれていません</translation>
    </message>
    <message>
        <source>Install or choose one.</source>
        <translation>インストールするか、選んでください。</translation>
    </message>
    <message>
        <source>Chat about anything</source>
        <translation>どんな話題でも話せます</translation>
    </message>
    <message>
        <source>%1 and its draft are installed.</source>
        <translation>%1 とそのドラフトがインストールされました。</translation>
    </message>
    <message>
        <source>The starter pair only knows Hunch. Install a larger model.</source>
        <translation>スターターペアが知っているのは Hunch のことだけです。より大きなモデルをインストールしてください。</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>モデル…</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>書き出す</translation>
    </message>
    <message>
        <source>Export all chats</source>
        <translation>すべてのチャットを書き出す</translation>
    </message>
    <message>
        <source>Export “%1”</source>
        <translation>「%1」を書き出す</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>形式</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>書き出す…</translation>
    </message>
    <message numerus="yes">
        <source>Export %Ln chat(s)</source>
        <translation>
            <numerusform>%Ln 件のチャットを書き出す</numerusform>
        </translation>
    </message>
    <message>
        <source>With the files of projects and chats</source>
        <translation>プロジェクトとチャットのファイルも書き出す</translation>
    </message>
    <message>
        <source>Exporting chat %1 of %2…</source>
        <translation>%2 件中 %1 件目のチャットを書き出し中…</translation>
    </message>
    <message>
        <source>Exporting…</source>
        <translation>書き出し中…</translation>
    </message>
    <message>
        <source>To import again: all versions, thinking, statistics, attachments.</source>
        <translation>再び取り込む用：すべてのバージョン、思考、統計、添付ファイル。</translation>
    </message>
    <message>
        <source>To read: one file per chat.</source>
        <translation>閲覧用：チャットごとに 1 ファイル。</translation>
    </message>
    <message>
        <source>To read: as shown.</source>
        <translation>閲覧用：画面の表示どおり。</translation>
    </message>
    <message>
        <source>Export here</source>
        <translation>ここに書き出す</translation>
    </message>
    <message>
        <source>Hunch chats %1</source>
        <comment>the name of a file; a date</comment>
        <translation>Hunch のチャット %1</translation>
    </message>
</context>
<context>
    <name>FileLine</name>
    <message>
        <source>Remove %1</source>
        <translation>%1 を取り除く</translation>
    </message>
</context>
<context>
    <name>Files</name>
    <message>
        <source>Files not attached: %1</source>
        <translation>添付できなかったファイル：%1 個</translation>
    </message>
    <message>
        <source>And %1 more.</source>
        <translation>ほかに %1 個あります。</translation>
    </message>
    <message>
        <source>%1 not attached</source>
        <translation>%1 を添付できませんでした</translation>
    </message>
    <message>
        <source>Not attached</source>
        <translation>添付できませんでした</translation>
    </message>
    <message>
        <source>Not PNG, JPEG, GIF, WebP or BMP.</source>
        <translation>PNG、JPEG、GIF、WebP、BMP ではありません。</translation>
    </message>
    <message>
        <source>No readable text.</source>
        <translation>読み取れるテキストがありません。</translation>
    </message>
    <message>
        <source>A folder.</source>
        <translation>これはフォルダです。</translation>
    </message>
    <message>
        <source>Empty.</source>
        <translation>空です。</translation>
    </message>
    <message>
        <source>Larger than %1.</source>
        <translation>ファイルが %1 を超えています。</translation>
    </message>
    <message>
        <source>Longer than %1 characters.</source>
        <translation>テキストが %1 文字を超えています。</translation>
    </message>
    <message>
        <source>Up to %1 files per message.</source>
        <translation>1 件のメッセージに添付できるのは %1 個までです。</translation>
    </message>
    <message>
        <source>Not found.</source>
        <translation>見つかりません。</translation>
    </message>
    <message>
        <source>No permission.</source>
        <translation>読み取り権限がありません。</translation>
    </message>
    <message>
        <source>Not readable.</source>
        <translation>読み込めません。</translation>
    </message>
    <message>
        <source>Password-protected.</source>
        <translation>パスワードで保護されています。</translation>
    </message>
    <message>
        <source>Page images without text.</source>
        <translation>ページの画像だけで、テキストがありません。</translation>
    </message>
    <message>
        <source>Damaged.</source>
        <translation>破損しています。</translation>
    </message>
    <message>
        <source>Too complex.</source>
        <translation>複雑すぎます。</translation>
    </message>
    <message>
        <source>Up to %1 pixels.</source>
        <translation>%1 ピクセルまでです。</translation>
    </message>
    <message>
        <source>Attach it as text or PDF.</source>
        <translation>テキストか PDF にして添付してください。</translation>
    </message>
    <message>
        <source>Attach its files.</source>
        <translation>中のファイルを添付してください。</translation>
    </message>
    <message>
        <source>Attach only what you need.</source>
        <translation>必要な部分だけを添付してください。</translation>
    </message>
    <message>
        <source>Send these, or remove some.</source>
        <translation>先に送信するか、いくつか外してください。</translation>
    </message>
    <message>
        <source>Allow access in System Settings.</source>
        <translation>システム設定で許可してください。</translation>
    </message>
    <message>
        <source>Check the disk.</source>
        <translation>ディスクを確認してください。</translation>
    </message>
    <message>
        <source>Too many pixels.</source>
        <translation>ピクセル数が多すぎます。</translation>
    </message>
    <message>
        <source>Too narrow to make out.</source>
        <translation>細長すぎて判別できません。</translation>
    </message>
    <message>
        <source>Not saved.</source>
        <translation>保存できませんでした。</translation>
    </message>
    <message>
        <source>Save it as PNG or JPEG.</source>
        <translation>PNG か JPEG で保存してください。</translation>
    </message>
    <message>
        <source>Attach a part.</source>
        <translation>一部分を添付してください。</translation>
    </message>
    <message>
        <source>Remove the password.</source>
        <translation>パスワードを解除してください。</translation>
    </message>
    <message>
        <source>Run text recognition (OCR) first.</source>
        <translation>先に文字認識（OCR）をしてください。</translation>
    </message>
    <message>
        <source>Resave it in another app.</source>
        <translation>別のアプリで保存し直してください。</translation>
    </message>
    <message>
        <source>Attach fewer pages.</source>
        <translation>ページ数を減らして添付してください。</translation>
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
        <translation>見つかりません</translation>
    </message>
    <message>
        <source>Find in chat</source>
        <translation>チャット内を検索</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>前の一致箇所</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>次の一致箇所</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>FoldPart</name>
    <message>
        <source>Hide thinking</source>
        <translation>思考を隠す</translation>
    </message>
    <message>
        <source>Show thinking</source>
        <translation>思考を表示</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>考えています…</translation>
    </message>
    <message>
        <source>Thinking for %1…</source>
        <translation>考えています… %1</translation>
    </message>
    <message>
        <source>Thought for %1</source>
        <translation>%1間考えました</translation>
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
        <translation>すぐに回答</translation>
    </message>
</context>
<context>
    <name>FolderRow</name>
    <message>
        <source>Stop looking in %1</source>
        <translation>%1 でモデルを探すのをやめる</translation>
    </message>
</context>
<context>
    <name>FoldersRow</name>
    <message>
        <source>Remove %1</source>
        <translation>%1 を取り除く</translation>
    </message>
    <message>
        <source>Files and folders to read</source>
        <translation>読み取れるファイルとフォルダ</translation>
    </message>
    <message>
        <source>None yet.</source>
        <translation>まだありません。</translation>
    </message>
    <message>
        <source>Add Folder…</source>
        <translation>フォルダを追加…</translation>
    </message>
    <message>
        <source>Add Files…</source>
        <translation>ファイルを追加…</translation>
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
        <translation>しない</translation>
    </message>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln 分</numerusform>
        </translation>
    </message>
    <message>
        <source>Match system (%1)</source>
        <translation>システムに合わせる（%1）</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>言語</translation>
    </message>
    <message>
        <source>Menu bar icon</source>
        <translation>メニューバーのアイコン</translation>
    </message>
    <message>
        <source>System tray icon</source>
        <translation>システムトレイのアイコン</translation>
    </message>
    <message>
        <source>Keeps Hunch open for Quick Ask.</source>
        <translation>ウインドウを閉じてもクイック質問を使えます。</translation>
    </message>
    <message>
        <source>Tell me about updates</source>
        <translation>アップデートを知らせる</translation>
    </message>
    <message>
        <source>Asks once a day. Installs nothing.</source>
        <translation>1 日 1 回確認します。インストールはしません。</translation>
    </message>
    <message>
        <source>Unload idle models</source>
        <translation>使っていないモデルをメモリから外す</translation>
    </message>
    <message>
        <source>Your next message reloads them.</source>
        <translation>次のメッセージで読み込み直します。</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>Show sidebar</source>
        <translation>サイドバーを表示</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新規チャット</translation>
    </message>
</context>
<context>
    <name>Help</name>
    <message>
        <source>It holds no chats and no tokens.</source>
        <translation>チャットの内容とトークンは含まれません。</translation>
    </message>
    <message>
        <source>Diagnostics copied</source>
        <translation>診断情報をコピーしました</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>表示</translation>
    </message>
</context>
<context>
    <name>HelpWindow</name>
    <message>
        <source>Hunch Help</source>
        <translation>Hunch ヘルプ</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>検索</translation>
    </message>
    <message>
        <source>Search Help</source>
        <translation>ヘルプを検索</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>見つかりませんでした。</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>ページ</translation>
    </message>
</context>
<context>
    <name>Hub</name>
    <message>
        <source>%1 parameters</source>
        <translation>パラメータ %1</translation>
    </message>
    <message>
        <source>needs a token</source>
        <translation>トークンが必要</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>インストール</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>インストール済み</translation>
    </message>
    <message>
        <source>not quantized</source>
        <translation>量子化なし</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>約 %1</translation>
    </message>
</context>
<context>
    <name>HubCard</name>
    <message>
        <source>Address</source>
        <translation>アドレス</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>トークン</translation>
    </message>
    <message>
        <source>For private and gated models.</source>
        <translation>非公開または承認制のモデル用です。</translation>
    </message>
    <message>
        <source>The token for %1 is never sent here.</source>
        <translation>%1 のトークンがここに送信されることはありません。</translation>
    </message>
    <message>
        <source>Now %1.</source>
        <translation>現在：%1。</translation>
    </message>
    <message>
        <source>Send token unencrypted</source>
        <translation>トークンを暗号化せずに送信</translation>
    </message>
    <message>
        <source>For http. Others can read it.</source>
        <translation>http のアドレスで使います。ほかの人に読まれる可能性があります。</translation>
    </message>
    <message>
        <source>Mirrors</source>
        <translation>ミラー</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>プロキシ</translation>
    </message>
    <message>
        <source>Empty: system proxy.</source>
        <translation>空欄：システムのプロキシ。</translation>
    </message>
    <message>
        <source>Separate with spaces. Your token is never sent to them.</source>
        <translation>スペースで区切ってください。トークンはミラーに送信されません。</translation>
    </message>
    <message>
        <source>Download limit</source>
        <translation>ダウンロード速度の制限</translation>
    </message>
    <message>
        <source>MB per second.</source>
        <translation>1 秒あたりの MB。</translation>
    </message>
    <message>
        <source>None</source>
        <translation>なし</translation>
    </message>
    <message>
        <source>Offline mode</source>
        <translation>オフラインモード</translation>
    </message>
    <message>
        <source>Installed models keep working.</source>
        <translation>インストール済みのモデルは使えます。</translation>
    </message>
</context>
<context>
    <name>ImportCard</name>
    <message>
        <source>Its tool servers. Its file is only read.</source>
        <translation>このアプリのツールサーバです。設定ファイルは読むだけです。</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>取り込む</translation>
    </message>
    <message>
        <source>Import from %1</source>
        <translation>%1 から取り込む</translation>
    </message>
</context>
<context>
    <name>ImportDialog</name>
    <message>
        <source>Import</source>
        <translation>取り込む</translation>
    </message>
    <message>
        <source>Import chats</source>
        <translation>チャットを取り込む</translation>
    </message>
    <message>
        <source>Cannot be imported</source>
        <translation>取り込めないもの</translation>
    </message>
    <message>
        <source>Import existing chats as copies</source>
        <translation>既存のチャットも複製として取り込む</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>フォルダを選択…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Choose files…</source>
        <translation>ファイルを選択…</translation>
    </message>
    <message>
        <source>Checking files…</source>
        <translation>ファイルを確認中…</translation>
    </message>
    <message>
        <source>Importing…</source>
        <translation>取り込み中…</translation>
    </message>
    <message>
        <source>From Hunch (JSON), ChatGPT (export or conversations.json) or LM Studio (“conversations”).</source>
        <translation>Hunch（JSON）、ChatGPT（アーカイブまたは conversations.json）、LM Studio（「conversations」）のチャット。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>チャット %Ln 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>メッセージ %Ln 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln new preset(s)</source>
        <translation>
            <numerusform>新しいプリセット %Ln 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln already here</source>
        <comment>chats</comment>
        <translation>
            <numerusform>既存 %Ln 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln unreadable</source>
        <comment>chats or files</comment>
        <translation>
            <numerusform>読み込めないもの %Ln 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln picture(s) left out</source>
        <translation>
            <numerusform>取り込めない画像 %Ln 枚</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message>
        <source>No reply yet</source>
        <translation>まだ回答がありません</translation>
    </message>
    <message>
        <source>Drafting is off</source>
        <translation>ドラフトはオフ</translation>
    </message>
    <message>
        <source>No draft</source>
        <translation>ドラフトなし</translation>
    </message>
    <message>
        <source>Drafting not supported</source>
        <translation>ドラフト非対応</translation>
    </message>
    <message>
        <source>The draft failed</source>
        <translation>ドラフトでエラー</translation>
    </message>
    <message>
        <source>Too short to judge</source>
        <translation>短すぎて判断できません</translation>
    </message>
    <message>
        <source>Nothing was written</source>
        <translation>何も書かれませんでした</translation>
    </message>
    <message>
        <source>Send a message first.</source>
        <translation>先にメッセージを送ってください。</translation>
    </message>
    <message>
        <source>Accepted by position</source>
        <translation>位置別の受理率</translation>
    </message>
    <message>
        <source>%1 of guesses were right.</source>
        <translation>予測の %1 が当たりました。</translation>
    </message>
    <message>
        <source>position %1: %2</source>
        <translation>%1 番目：%2</translation>
    </message>
    <message>
        <source>Accepted per pass</source>
        <translation>パスあたりの受理トークン</translation>
    </message>
    <message>
        <source>%1 accepted: %2 of the passes</source>
        <translation>%1 個受理：パスの %2</translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <translation>パスあたりのトークン</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>測定中…</translation>
    </message>
    <message>
        <source>Answered together</source>
        <translation>同時に回答</translation>
    </message>
    <message>
        <source>Too close to call</source>
        <translation>まだ判断できません</translation>
    </message>
    <message>
        <source>This pair: %1.</source>
        <translation>このペア：%1。</translation>
    </message>
    <message>
        <source>break-even %1</source>
        <translation>%1 以上で速くなる</translation>
    </message>
    <message>
        <source>Time spent</source>
        <translation>時間の内訳</translation>
    </message>
    <message>
        <source>draft</source>
        <translation>ドラフト</translation>
    </message>
    <message>
        <source>main model</source>
        <translation>メインモデル</translation>
    </message>
    <message>
        <source>other</source>
        <translation>その他</translation>
    </message>
    <message>
        <source>Tokens per pass over time</source>
        <translation>パスあたりのトークンの推移</translation>
    </message>
    <message>
        <source>first %1, last %2, from %3 to %4</source>
        <translation>最初 %1、最後 %2、範囲 %3〜%4</translation>
    </message>
    <message>
        <source>%1 s saved</source>
        <translation>%1 秒短縮</translation>
    </message>
    <message>
        <source>%1 s lost</source>
        <translation>%1 秒の遅れ</translation>
    </message>
    <message>
        <source>What do these mean?</source>
        <translation>それぞれの意味</translation>
    </message>
    <message>
        <source>Pass</source>
        <translation>パス</translation>
    </message>
    <message>
        <source>One check: the main model keeps the guesses before the first mismatch and adds a token.</source>
        <translation>メインモデルがすべての予測を一度に確認し、最初の違いの手前まで受理して、1 トークンを加えます。</translation>
    </message>
    <message>
        <source>Accept rate</source>
        <translation>受理率</translation>
    </message>
    <message>
        <source>Share of guesses kept.</source>
        <translation>予測のうち受理された割合です。</translation>
    </message>
    <message>
        <source>Without a draft: 1.</source>
        <translation>ドラフトなしでは 1 です。</translation>
    </message>
    <message>
        <source>Break-even</source>
        <translation>速くなる目安</translation>
    </message>
    <message>
        <source>Speed with the draft against without, on this Mac.</source>
        <translation>この Mac での、ドラフトありとなしの速度の比較です。</translation>
    </message>
    <message>
        <source>Above this, replies are faster.</source>
        <translation>これより多いと、回答が速くなります。</translation>
    </message>
    <message>
        <source>Faster, slower</source>
        <translation>速い、遅い</translation>
    </message>
    <message>
        <source>Share kept, once all before were.</source>
        <translation>それまでがすべて当たったときの受理率です。</translation>
    </message>
</context>
<context>
    <name>InspectorButton</name>
    <message>
        <source>Widen the window to show the inspector.</source>
        <translation>インスペクタを表示するには、ウインドウを広げてください。</translation>
    </message>
    <message>
        <source>Hide inspector</source>
        <translation>インスペクタを隠す</translation>
    </message>
    <message>
        <source>Show inspector</source>
        <translation>インスペクタを表示</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>インスペクタ</translation>
    </message>
</context>
<context>
    <name>InspectorPanel</name>
    <message>
        <source>The starter pair knows its text; others gain less.</source>
        <translation>スターターペアは文章を丸ごと覚えています。ほかのペアではここまで速くなりません。</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>インスペクタ</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>ドラフト</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>このペアではオフにする</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>レース…</translation>
    </message>
    <message>
        <source>With and without the draft</source>
        <translation>ドラフトありとなしで比較</translation>
    </message>
</context>
<context>
    <name>InstallCard</name>
    <message>
        <source>Install from the hub</source>
        <translation>ハブからインストール</translation>
    </message>
    <message>
        <source>Repository name or page address.</source>
        <translation>リポジトリの名前、またはページのアドレス。</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>リポジトリ</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>インストール</translation>
    </message>
</context>
<context>
    <name>InstalledCard</name>
    <message>
        <source>Show %1 more</source>
        <translation>さらに %1 件を表示</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>モデルを探しています…</translation>
    </message>
    <message>
        <source>No matching models.</source>
        <translation>条件に合うモデルはありません。</translation>
    </message>
    <message>
        <source>No models installed.</source>
        <translation>モデルがインストールされていません。</translation>
    </message>
    <message>
        <source>Frees %1.</source>
        <translation>ディスクの空きが %1 増えます。</translation>
    </message>
    <message>
        <source>Delete %1?</source>
        <translation>%1 を削除しますか？</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>On disk: %1</source>
        <translation>ディスク使用量：%1</translation>
    </message>
    <message>
        <source>%1 · Installed by Hunch: %2</source>
        <translation>%1 · Hunch がインストール：%2</translation>
    </message>
    <message>
        <source>%1 shown · %2</source>
        <translation>%1 件を表示 · %2</translation>
    </message>
    <message>
        <source>Search installed models</source>
        <translation>インストール済みモデルを検索</translation>
    </message>
    <message>
        <source>All kinds</source>
        <translation>すべての種類</translation>
    </message>
    <message>
        <source>Chat models</source>
        <translation>チャットモデル</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>専用ドラフトモデル</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>種類</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>名前順</translation>
    </message>
    <message>
        <source>By size</source>
        <translation>サイズ順</translation>
    </message>
    <message>
        <source>By last use</source>
        <translation>最後に使った順</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>並び順</translation>
    </message>
    <message>
        <source>Runs on this Mac</source>
        <translation>この Mac で動くものだけ</translation>
    </message>
</context>
<context>
    <name>JumpButton</name>
    <message>
        <source>Jump to end</source>
        <translation>最後に移動</translation>
    </message>
</context>
<context>
    <name>KeptWords</name>
    <message>
        <source>Quitting now may lose unsaved text.</source>
        <translation>今終了すると、未保存の文章が失われるおそれがあります。</translation>
    </message>
    <message>
        <source>Free some space and wait, or quit again.</source>
        <translation>空き容量を増やして待つか、もう一度終了してください。</translation>
    </message>
    <message>
        <source>Not everything is saved</source>
        <translation>保存されていない内容があります</translation>
    </message>
    <message>
        <source>Kept in Recently Deleted for 30 days.</source>
        <translation>30 日間「最近削除した項目」に残ります。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) deleted.</source>
        <translation>
            <numerusform>%Ln 件のチャットを削除しました。</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted “%1”.</source>
        <translation>「%1」を削除しました。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s) deleted.</source>
        <translation>
            <numerusform>メッセージ %Ln 件を削除しました。</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted the folder “%1”.</source>
        <translation>フォルダ「%1」を削除しました。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved out of folders.</source>
        <translation>
            <numerusform>%Ln 件のチャットをフォルダから出しました。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved to “%1”.</source>
        <translation>
            <numerusform>%Ln 件のチャットを「%1」に移しました。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LendCard</name>
    <message>
        <source>%1 uses this Mac</source>
        <translation>%1 がこの Mac を使用中</translation>
    </message>
    <message>
        <source>%1 needs a model that is not on this Mac</source>
        <translation>%1 が必要とするモデルがこの Mac にありません</translation>
    </message>
    <message>
        <source>Pairing code</source>
        <translation>ペアリングコード</translation>
    </message>
    <message>
        <source>Lend memory to other Macs</source>
        <translation>ほかの Mac にメモリを貸す</translation>
    </message>
    <message>
        <source>This Mac drafts for %1</source>
        <translation>%1 のドラフトを担当中</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>今すぐ停止</translation>
    </message>
    <message>
        <source>Show code</source>
        <translation>コードを表示</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>ダウンロード</translation>
    </message>
</context>
<context>
    <name>LicencesDialog</name>
    <message>
        <source>Licenses</source>
        <translation>ライセンス</translation>
    </message>
    <message>
        <source>Everything that Hunch is built on</source>
        <translation>Hunch を構成するすべてのもの</translation>
    </message>
</context>
<context>
    <name>LinkDialog</name>
    <message>
        <source>Open %1?</source>
        <translation>%1 を開きますか？</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>開く</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
</context>
<context>
    <name>LongChatMenu</name>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>前のメッセージ %Ln 件は読まれません</numerusform>
        </translation>
    </message>
    <message>
        <source>Still read: the system prompt</source>
        <translation>引き続き読まれる：システムプロンプト</translation>
    </message>
    <message>
        <source>Still read: the project&apos;s instructions</source>
        <translation>引き続き読まれる：プロジェクトの指示</translation>
    </message>
    <message numerus="yes">
        <source>Still read: %Ln pinned message(s)</source>
        <translation>
            <numerusform>引き続き読まれる：ピン留めしたメッセージ %Ln 件</numerusform>
        </translation>
    </message>
    <message>
        <source>Pin a message to keep it</source>
        <translation>メッセージをピン留めすると引き続き読まれます</translation>
    </message>
</context>
<context>
    <name>MAC_APPLICATION_MENU</name>
    <message>
        <source>Preferences...</source>
        <translation>設定…</translation>
    </message>
</context>
<context>
    <name>Machines</name>
    <message>
        <source>Faster is not possible with models of this family.</source>
        <translation>この系列のモデルは、これ以上速くできません。</translation>
    </message>
    <message>
        <source>Faster is not possible: the layers cannot be halved.</source>
        <translation>レイヤーを半分に分けられないため、これ以上速くできません。</translation>
    </message>
    <message>
        <source>Faster needs exactly two Macs.</source>
        <translation>速くするには、Mac がちょうど 2 台必要です。</translation>
    </message>
    <message>
        <source>Faster needs two Macs with the same chip.</source>
        <translation>速くするには、同じチップの Mac が 2 台必要です。</translation>
    </message>
    <message>
        <source>Faster needs the same version of macOS on both.</source>
        <translation>速くするには、両方の macOS のバージョンをそろえてください。</translation>
    </message>
    <message>
        <source>Faster needs a Thunderbolt 5 cable, macOS 26.2, and “rdma_ctl enable” in Recovery on both.</source>
        <translation>速くするには、Thunderbolt 5 ケーブルと macOS 26.2 が必要です。両方の Mac の「macOS 復旧」で「rdma_ctl enable」を実行してください。</translation>
    </message>
    <message>
        <source>Faster needs room for half of the model on each.</source>
        <translation>速くするには、どちらの Mac にもモデルの半分が入るメモリが必要です。</translation>
    </message>
    <message>
        <source>Together would be no faster: the exchange takes too long.</source>
        <translation>一緒に計算しても同じです。やり取りに時間がかかりすぎます。</translation>
    </message>
    <message>
        <source>The other Mac has stopped drafting.</source>
        <translation>もう一方の Mac がドラフトを停止しました。</translation>
    </message>
    <message>
        <source>The other Mac no longer answers.</source>
        <translation>もう一方の Mac が応答しなくなりました。</translation>
    </message>
    <message>
        <source>What the other Mac sent is no draft.</source>
        <translation>もう一方の Mac から届いたものはドラフトではありません。</translation>
    </message>
    <message>
        <source>The other Mac cannot run this draft.</source>
        <translation>もう一方の Mac ではこのドラフトモデルを動かせません。</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>開始中…</translation>
    </message>
    <message>
        <source>Up to %1 for paired Macs, at %2.</source>
        <translation>ペアリングした Mac に最大 %1 を貸します。アドレスは %2 です。</translation>
    </message>
    <message>
        <source>Lending ended by itself. It starts again soon.</source>
        <translation>貸し出しが自動的に終了しました。まもなく自動で再開します。</translation>
    </message>
    <message>
        <source>Lends this Mac’s memory to Macs that you pair with it.</source>
        <translation>ペアリングした Mac にこの Mac のメモリを貸します。</translation>
    </message>
    <message>
        <source>%1 · copied from %2, or from the hub if it does not answer</source>
        <translation>%1 · %2 からコピーし、応答がなければハブからダウンロードします</translation>
    </message>
    <message>
        <source>Pairs one Mac, within two minutes.</source>
        <translation>2 分以内に Mac を 1 台ペアリングします。</translation>
    </message>
    <message>
        <source>Type it on the other Mac. %1 left.</source>
        <translation>もう一方の Mac で入力してください。残り %1。</translation>
    </message>
    <message>
        <source>May use this Mac.</source>
        <translation>この Mac を使用できます。</translation>
    </message>
    <message>
        <source>was at %1</source>
        <translation>以前は %1</translation>
    </message>
    <message>
        <source>%1 holds half of every layer.</source>
        <translation>各レイヤーの半分は %1 にあります。</translation>
    </message>
    <message>
        <source>%1 holds some of its layers.</source>
        <translation>レイヤーの一部は %1 にあります。</translation>
    </message>
    <message>
        <source>May use this Mac. Lends its memory, too: at %2, %3.</source>
        <translation>この Mac を使用できます。メモリも貸しています：%2、%3。</translation>
    </message>
    <message>
        <source>Does not answer at %1, but at %2: %3.</source>
        <translation>%1 では応答がなく、%2 で応答します：%3。</translation>
    </message>
    <message>
        <source>%1 · %4. Sooner at %2: %3.</source>
        <translation>%1 · %4。より速いアドレス：%2、%3。</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>Has an older version of Hunch. Update it there.</source>
        <translation>Hunch のバージョンが古いです。その Mac でアップデートしてください。</translation>
    </message>
    <message>
        <source>Has a newer version of Hunch. Update it on this Mac.</source>
        <translation>Hunch のバージョンが新しいです。この Mac でアップデートしてください。</translation>
    </message>
    <message>
        <source>Runs over both Macs now.</source>
        <translation>現在、2 台の Mac で動いています。</translation>
    </message>
    <message>
        <source>Not enough memory on %1.</source>
        <translation>メモリが足りません：%1。</translation>
    </message>
    <message>
        <source>Fits, with room for a chat.</source>
        <translation>チャットの分も含めて収まります。</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>自動</translation>
    </message>
    <message>
        <source>Faster</source>
        <translation>速さ優先</translation>
    </message>
    <message>
        <source>More room</source>
        <translation>メモリ優先</translation>
    </message>
    <message>
        <source>More room is not possible with models of this family.</source>
        <translation>この系列のモデルでは「メモリ優先」を選べません。</translation>
    </message>
    <message>
        <source>Where two words are as good as tied, the text may differ from one Mac’s.</source>
        <translation>2 つの語の確率がほぼ同じところでは、Mac 1 台のときと文章が異なることがあります。</translation>
    </message>
    <message>
        <source>One Mac after the other: makes room, not speed.</source>
        <translation>2 台の Mac が順番に計算します。使えるメモリは増えますが、速くはなりません。</translation>
    </message>
    <message>
        <source>RDMA lets the Mac at the other end of the cable write into part of this Mac’s memory, unencrypted.</source>
        <translation>RDMA をオンにすると、ケーブルの先の Mac が、この Mac のメモリの一部に暗号化なしで直接書き込めるようになります。</translation>
    </message>
    <message>
        <source>A token takes about %1 ms on one Mac; on both together half of that, and %2 ms for the exchange.</source>
        <translation>1 トークンに、Mac 1 台では約 %1 ms かかります。2 台で一緒に計算すると、その半分と、やり取りの %2 ms です。</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together.</source>
        <translation>2 台の Mac が各レイヤーを一緒に計算します。</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together, if that proves faster.</source>
        <translation>速くなると確認できれば、2 台の Mac が各レイヤーを一緒に計算します。</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together: faster.</source>
        <translation>2 台の Mac が各レイヤーを一緒に計算するため、速くなります。</translation>
    </message>
    <message>
        <source>Settings → Other Macs there offers to download %1.</source>
        <translation>その Mac の設定 → ほかの Mac で %1 をダウンロードできます。</translation>
    </message>
    <message>
        <source>This Mac drafts meanwhile.</source>
        <translation>その間はこの Mac がドラフトします。</translation>
    </message>
    <message>
        <source>The loaded pair has no draft that another Mac can run.</source>
        <translation>現在のペアには、ほかの Mac で動かせるドラフトモデルがありません。</translation>
    </message>
    <message>
        <source>Ready, with up to %1 of memory there.</source>
        <translation>準備完了。その Mac のメモリを最大 %1 使います。</translation>
    </message>
    <message>
        <source>%1 prepared</source>
        <translation>%1 を準備済み</translation>
    </message>
    <message>
        <source>%1 the speed without it</source>
        <translation>ない場合の %1 の速さ</translation>
    </message>
    <message>
        <source>%1 late</source>
        <translation>遅れ %1 回</translation>
    </message>
    <message>
        <source>up to %1, %2 s of work there</source>
        <translation>その Mac で最大 %1、作業 %2 秒</translation>
    </message>
    <message>
        <source>%1: half of every layer, %2 of %3</source>
        <translation>%1：各レイヤーの半分、%3 中 %2</translation>
    </message>
    <message>
        <source>%1: layers %2–%3, %4 of %5</source>
        <translation>%1：レイヤー %2〜%3、%5 中 %4</translation>
    </message>
    <message>
        <source>This Mac</source>
        <translation>この Mac</translation>
    </message>
</context>
<context>
    <name>MachinesPage</name>
    <message>
        <source>A model that is too large for this Mac runs over two that both have its files. Or another Mac drafts for this one. Experimental.</source>
        <translation>この Mac には大きすぎるモデルを、どちらにもモデルのファイルがある 2 台の Mac で動かします。または、ほかの Mac がこの Mac のドラフトを担当します。実験的な機能です。</translation>
    </message>
    <message>
        <source>Paired Macs</source>
        <translation>ペアリングした Mac</translation>
    </message>
    <message>
        <source>Nearby Macs</source>
        <translation>近くの Mac</translation>
    </message>
    <message>
        <source>Pair with another Mac</source>
        <translation>別の Mac とペアリング</translation>
    </message>
    <message>
        <source>Run over 2 Macs</source>
        <translation>2 台の Mac で実行</translation>
    </message>
    <message>
        <source>Draft on another Mac</source>
        <translation>ほかの Mac でドラフト</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>%1 will load after this reply.</source>
        <translation>この回答が終わったら %1 を読み込みます。</translation>
    </message>
    <message>
        <source>The model will unload after this reply.</source>
        <translation>この回答が終わったらモデルをメモリから外します。</translation>
    </message>
    <message>
        <source>Stop Reply and Switch</source>
        <translation>回答を停止して切り替え</translation>
    </message>
    <message>
        <source>Stop Reply and Unload</source>
        <translation>回答を停止してメモリから外す</translation>
    </message>
</context>
<context>
    <name>MenuBar</name>
    <message>
        <source>File</source>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>編集</translation>
    </message>
    <message>
        <source>View</source>
        <translation>表示</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>チャット</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>ウインドウ</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>ヘルプ</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>やり直す</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>カット</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>ペースト</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>すべてを選択</translation>
    </message>
    <message>
        <source>New Chat</source>
        <translation>新規チャット</translation>
    </message>
    <message>
        <source>Attach…</source>
        <translation>添付…</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>取り込む…</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>書き出す…</translation>
    </message>
    <message>
        <source>Export All…</source>
        <translation>すべて書き出す…</translation>
    </message>
    <message>
        <source>Close Window</source>
        <translation>ウインドウを閉じる</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>設定…</translation>
    </message>
    <message>
        <source>Full Screen</source>
        <translation>フルスクリーン</translation>
    </message>
    <message>
        <source>Copy Diagnostics</source>
        <translation>診断情報をコピー</translation>
    </message>
    <message>
        <source>About Hunch</source>
        <translation>Hunch について</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>Hunch を終了</translation>
    </message>
    <message>
        <source>Search Chats</source>
        <translation>チャットを検索</translation>
    </message>
    <message>
        <source>Write Message</source>
        <translation>メッセージを書く</translation>
    </message>
    <message>
        <source>Larger Text</source>
        <translation>文字を大きく</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>新規フォルダ</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>クイック質問…</translation>
    </message>
    <message>
        <source>Paste and Match Style</source>
        <translation>ペーストしてスタイルを合わせる</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>検索</translation>
    </message>
    <message>
        <source>Find in Chat…</source>
        <translation>チャット内を検索…</translation>
    </message>
    <message>
        <source>Find Next</source>
        <translation>次を検索</translation>
    </message>
    <message>
        <source>Find Previous</source>
        <translation>前を検索</translation>
    </message>
    <message>
        <source>Use Selection for Find</source>
        <translation>選択部分を検索に使用</translation>
    </message>
    <message>
        <source>Command Palette…</source>
        <translation>コマンドパレット…</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>サイドバー</translation>
    </message>
    <message>
        <source>Smaller Text</source>
        <translation>文字を小さく</translation>
    </message>
    <message>
        <source>Actual Size</source>
        <translation>実際のサイズ</translation>
    </message>
    <message>
        <source>Quote Selection</source>
        <translation>選択範囲を引用</translation>
    </message>
    <message>
        <source>New Prompt…</source>
        <translation>新規プロンプト…</translation>
    </message>
    <message>
        <source>Stop Reply</source>
        <translation>回答を停止</translation>
    </message>
    <message>
        <source>Choose Models…</source>
        <translation>モデルを選択…</translation>
    </message>
    <message>
        <source>Next Chat</source>
        <translation>次のチャット</translation>
    </message>
    <message>
        <source>Previous Chat</source>
        <translation>前のチャット</translation>
    </message>
    <message>
        <source>Rename Chat…</source>
        <translation>チャットの名前を変更…</translation>
    </message>
    <message>
        <source>Pin or Unpin Chat</source>
        <translation>チャットのピン留め／解除</translation>
    </message>
    <message>
        <source>Duplicate Chat</source>
        <translation>チャットを複製</translation>
    </message>
    <message>
        <source>Move Chat to</source>
        <translation>チャットを移動</translation>
    </message>
    <message>
        <source>Delete Chat</source>
        <translation>チャットを削除</translation>
    </message>
    <message>
        <source>Recently Deleted</source>
        <translation>最近削除した項目</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>メッセージ</translation>
    </message>
    <message>
        <source>Minimize</source>
        <translation>しまう</translation>
    </message>
    <message>
        <source>Zoom</source>
        <translation>拡大／縮小</translation>
    </message>
    <message>
        <source>Show Chat Window</source>
        <translation>チャットウインドウを表示</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>アクティビティ</translation>
    </message>
    <message>
        <source>Bring All to Front</source>
        <translation>すべてを手前に移動</translation>
    </message>
    <message>
        <source>Hunch Help</source>
        <translation>Hunch ヘルプ</translation>
    </message>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>キーボードショートカット</translation>
    </message>
    <message>
        <source>Show Log</source>
        <translation>ログを表示</translation>
    </message>
</context>
<context>
    <name>MenuButton</name>
    <message>
        <source>Menu</source>
        <translation>メニュー</translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message numerus="yes">
        <source>Delete this and %Ln later message(s)?</source>
        <translation>
            <numerusform>このメッセージと以降の %Ln 件を削除しますか？</numerusform>
        </translation>
    </message>
    <message>
        <source>Kept in Recently Deleted for 30 days.</source>
        <translation>30 日間「最近削除した項目」に残ります。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
</context>
<context>
    <name>MessageActs</name>
    <message>
        <source>Copy as Markdown</source>
        <translation>Markdown としてコピー</translation>
    </message>
    <message>
        <source>Copy as JSON</source>
        <translation>JSON としてコピー</translation>
    </message>
    <message>
        <source>Copy as Plain Text</source>
        <translation>プレーンテキストとしてコピー</translation>
    </message>
    <message>
        <source>Copy as CSV</source>
        <translation>CSV としてコピー</translation>
    </message>
    <message>
        <source>Show as Table</source>
        <translation>表として表示</translation>
    </message>
    <message>
        <source>Show as Tree</source>
        <translation>ツリーとして表示</translation>
    </message>
    <message>
        <source>Show JSON</source>
        <translation>JSON を表示</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>編集</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>再生成</translation>
    </message>
    <message>
        <source>Generate Reply</source>
        <translation>回答を生成</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>続きを生成</translation>
    </message>
    <message>
        <source>Show in Inspector</source>
        <translation>インスペクタで表示</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>レース…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>ピン留めを解除</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>ピン留め</translation>
    </message>
    <message>
        <source>New Chat from Here</source>
        <translation>ここから新規チャット</translation>
    </message>
    <message>
        <source>Insert Before</source>
        <translation>前に挿入</translation>
    </message>
    <message>
        <source>Insert After</source>
        <translation>後に挿入</translation>
    </message>
    <message>
        <source>Change to My Message</source>
        <translation>自分のメッセージに変更</translation>
    </message>
    <message>
        <source>Change to Model&apos;s Reply</source>
        <translation>モデルの回答に変更</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Delete This and Later Messages…</source>
        <translation>このメッセージ以降をすべて削除…</translation>
    </message>
</context>
<context>
    <name>MessageFooter</name>
    <message>
        <source>Previous version</source>
        <translation>前のバージョン</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>次のバージョン</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>メッセージをコピー</translation>
    </message>
    <message>
        <source>Edit message</source>
        <translation>メッセージを編集</translation>
    </message>
    <message>
        <source>Continue reply</source>
        <translation>続きを生成</translation>
    </message>
    <message>
        <source>Regenerate reply</source>
        <translation>回答を再生成</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>メッセージを削除</translation>
    </message>
    <message>
        <source>More</source>
        <translation>その他</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>ピン留め済み</translation>
    </message>
</context>
<context>
    <name>Messages</name>
    <message>
        <source>Something went wrong</source>
        <translation>問題が起きました</translation>
    </message>
    <message>
        <source>Unknown error.</source>
        <translation>不明なエラーです。</translation>
    </message>
    <message>
        <source>Model not found</source>
        <translation>モデルが見つかりません</translation>
    </message>
    <message>
        <source>No model in %1.</source>
        <translation>%1 にモデルがありません。</translation>
    </message>
    <message>
        <source>Moved, deleted, or its disk is not connected.</source>
        <translation>移動または削除されたか、ディスクが接続されていません。</translation>
    </message>
    <message>
        <source>Weights missing</source>
        <translation>重みがありません</translation>
    </message>
    <message>
        <source>%1 has no safetensors weights.</source>
        <translation>%1 には safetensors の重みがありません。</translation>
    </message>
    <message>
        <source>A file of %1 is damaged.</source>
        <translation>%1 のファイルが破損しています。</translation>
    </message>
    <message>
        <source>Model damaged</source>
        <translation>モデルが破損しています</translation>
    </message>
    <message>
        <source>Delete and reinstall it.</source>
        <translation>削除して、インストールし直してください。</translation>
    </message>
    <message>
        <source>MLX cannot run %1 (“%2”) yet.</source>
        <translation>%1 のアーキテクチャ「%2」は、まだ MLX で動かせません。</translation>
    </message>
    <message>
        <source>%1 names no architecture.</source>
        <translation>%1 の設定にアーキテクチャの名前がありません。</translation>
    </message>
    <message>
        <source>Model not supported</source>
        <translation>対応していないモデルです</translation>
    </message>
    <message>
        <source>%1 brings its own code, which Hunch never runs.</source>
        <translation>%1 は独自のコードを含みますが、Hunch は実行しません。</translation>
    </message>
    <message>
        <source>Model refused</source>
        <translation>使用できないモデルです</translation>
    </message>
    <message>
        <source>%1 has an unusable tokenizer.</source>
        <translation>%1 のトークナイザーを使えません。</translation>
    </message>
    <message>
        <source>Tokenizer broken</source>
        <translation>トークナイザーが破損しています</translation>
    </message>
    <message>
        <source>%1 needs %2 of memory; %3 is available.</source>
        <translation>%1 には %2 のメモリが必要ですが、使えるのは %3 です。</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>メモリが足りません</translation>
    </message>
    <message>
        <source>Choose a smaller model, or fewer bits.</source>
        <translation>より小さいモデルか、少ないビット数を選んでください。</translation>
    </message>
    <message>
        <source>You chose another model before %1 loaded.</source>
        <translation>%1 の読み込みが終わる前に、別のモデルが選択されました。</translation>
    </message>
    <message>
        <source>Loading stopped</source>
        <translation>読み込みを中止しました</translation>
    </message>
    <message>
        <source>The disk with %1 cannot lock files.</source>
        <translation>%1 のあるディスクはファイルをロックできません。</translation>
    </message>
    <message>
        <source>Move this folder to another disk.</source>
        <translation>このフォルダを別のディスクに移動してください。</translation>
    </message>
    <message>
        <source>No config.json</source>
        <translation>config.json がありません</translation>
    </message>
    <message>
        <source>%1 has no config.json.</source>
        <translation>%1 に config.json がありません。</translation>
    </message>
    <message>
        <source>Add its config.json and tokenizer.</source>
        <translation>config.json とトークナイザーを追加してください。</translation>
    </message>
    <message>
        <source>Choose its MLX version, or reinstall it.</source>
        <translation>MLX 版を選ぶか、もう一度インストールしてください。</translation>
    </message>
    <message>
        <source>Different vocabulary</source>
        <translation>語彙が異なります</translation>
    </message>
    <message>
        <source>Choose a small draft of the same family.</source>
        <translation>同じ系列の小さなドラフトモデルを選んでください。</translation>
    </message>
    <message>
        <source>The same tokens mean different text.</source>
        <translation>同じトークンが別の文字を表します。</translation>
    </message>
    <message>
        <source>Same model twice</source>
        <translation>同じモデルです</translation>
    </message>
    <message>
        <source>A model cannot guess faster than itself.</source>
        <translation>モデルは自分自身より速くは予測できません。</translation>
    </message>
    <message>
        <source>Too large: %1, main model %2.</source>
        <translation>大きすぎます：%1、メインモデルは %2。</translation>
    </message>
    <message>
        <source>Draft too large</source>
        <translation>ドラフトモデルが大きすぎます</translation>
    </message>
    <message>
        <source>A fifth or less works well.</source>
        <translation>5 分の 1 以下が目安です。</translation>
    </message>
    <message>
        <source>“%1” drafts cannot undo wrong guesses.</source>
        <translation>「%1」という種類のドラフトモデルは、外れた予測を取り消せません。</translation>
    </message>
    <message>
        <source>Cannot draft</source>
        <translation>ドラフトには使えません</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>モデルが読み込まれていません</translation>
    </message>
    <message>
        <source>Choose a main model.</source>
        <translation>メインモデルを選んでください。</translation>
    </message>
    <message>
        <source>Nothing to reply to</source>
        <translation>回答する内容がありません</translation>
    </message>
    <message>
        <source>This chat is empty.</source>
        <translation>このチャットは空です。</translation>
    </message>
    <message>
        <source>Write something first.</source>
        <translation>先にメッセージを書いてください。</translation>
    </message>
    <message>
        <source>%1 is set to %2; allowed: %3.</source>
        <translation>%1 の値は %2 ですが、使えるのは %3 です。</translation>
    </message>
    <message>
        <source>Setting out of range</source>
        <translation>設定値が範囲外です</translation>
    </message>
    <message>
        <source>This chat has %1 tokens; the model holds %2.</source>
        <translation>このチャットは %1 トークンですが、モデルが扱えるのは %2 トークンです。</translation>
    </message>
    <message>
        <source>Chat template failed</source>
        <translation>チャットテンプレートに問題があります</translation>
    </message>
    <message>
        <source>The model could not format this chat.</source>
        <translation>このチャットをモデルの形式に変換できませんでした。</translation>
    </message>
    <message>
        <source>Repository not found</source>
        <translation>リポジトリが見つかりません</translation>
    </message>
    <message>
        <source>%1 is not on the hub.</source>
        <translation>%1 はハブにありません。</translation>
    </message>
    <message>
        <source>Check the spelling. Private ones need a token.</source>
        <translation>つづりを確認してください。非公開のものにはトークンが必要です。</translation>
    </message>
    <message>
        <source>%1 has terms to accept.</source>
        <translation>%1 には利用条件への同意が必要です。</translation>
    </message>
    <message>
        <source>Accept them on its page, then add your token in Settings.</source>
        <translation>ページで同意してから、設定にトークンを入力してください。</translation>
    </message>
    <message>
        <source>Add a token with read access.</source>
        <translation>読み取り権限のあるトークンを入力してください。</translation>
    </message>
    <message>
        <source>No access</source>
        <translation>アクセスできません</translation>
    </message>
    <message>
        <source>Hub not reachable</source>
        <translation>ハブに接続できません</translation>
    </message>
    <message>
        <source>%1 not found. This Mac may be offline.</source>
        <translation>%1 が見つかりません。この Mac がオフラインかもしれません。</translation>
    </message>
    <message>
        <source>Check your connection and the hub address.</source>
        <translation>接続とハブのアドレスを確認してください。</translation>
    </message>
    <message>
        <source>Check your connection. Downloaded data is kept.</source>
        <translation>接続を確認してください。ダウンロード済みの分は残っています。</translation>
    </message>
    <message>
        <source>Hub not trusted</source>
        <translation>ハブを信頼できません</translation>
    </message>
    <message>
        <source>Check the hub address in Settings.</source>
        <translation>設定でハブのアドレスを確認してください。</translation>
    </message>
    <message>
        <source>Download damaged</source>
        <translation>ダウンロードしたファイルが破損しています</translation>
    </message>
    <message>
        <source>%1 failed its checksum and was discarded.</source>
        <translation>%1 はチェックサムと一致しないため破棄しました。</translation>
    </message>
    <message>
        <source>%1 has no MLX weights, only %2.</source>
        <translation>%1 に MLX の重みはなく、あるのは %2 だけです。</translation>
    </message>
    <message>
        <source>%1 has no MLX weights.</source>
        <translation>%1 に MLX の重みがありません。</translation>
    </message>
    <message>
        <source>Nothing to install</source>
        <translation>インストールできるものがありません</translation>
    </message>
    <message>
        <source>Look for it at mlx-community.</source>
        <translation>mlx-community で探してください。</translation>
    </message>
    <message>
        <source>%1 needs %2 of disk space; %3 is free.</source>
        <translation>%1 にはディスクの空きが %2 必要ですが、空きは %3 です。</translation>
    </message>
    <message>
        <source>Not enough disk space</source>
        <translation>ディスクの空きが足りません</translation>
    </message>
    <message>
        <source>Invalid model output</source>
        <translation>モデルの出力が正しくありません</translation>
    </message>
    <message>
        <source>The weights of %1 may be damaged.</source>
        <translation>%1 の重みが破損している可能性があります。</translation>
    </message>
    <message>
        <source>Reinstall it, or choose another model.</source>
        <translation>インストールし直すか、別のモデルを選んでください。</translation>
    </message>
    <message>
        <source>Choose another model family.</source>
        <translation>別の系列のモデルを選んでください。</translation>
    </message>
    <message>
        <source>Draft model not supported</source>
        <translation>対応していないドラフトモデルです</translation>
    </message>
    <message>
        <source>%1 needs “%2”, which Hunch lacks.</source>
        <translation>%1 には、Hunch がまだ計算できない「%2」が必要です。</translation>
    </message>
    <message>
        <source>Not a chat model</source>
        <translation>チャットモデルではありません</translation>
    </message>
    <message>
        <source>%1 only drafts for other models.</source>
        <translation>%1 はほかのモデルのドラフト専用です。</translation>
    </message>
    <message>
        <source>Use it as a draft.</source>
        <translation>ドラフトモデルとして使ってください。</translation>
    </message>
    <message>
        <source>Close other apps, or choose a smaller model.</source>
        <translation>ほかのアプリを閉じるか、小さいモデルを選んでください。</translation>
    </message>
    <message>
        <source>Main model in use</source>
        <translation>メインモデルは使用中です</translation>
    </message>
    <message>
        <source>%1 was not loaded: another model is writing.</source>
        <translation>別のメインモデルで回答を書いているため、%1 は読み込まれませんでした。</translation>
    </message>
    <message>
        <source>Wait, or stop it.</source>
        <translation>待つか、停止してください。</translation>
    </message>
    <message>
        <source>Different vocabularies (%1 and %2 tokens).</source>
        <translation>語彙が異なります（%1 トークンと %2 トークン）。</translation>
    </message>
    <message>
        <source>Made for another model</source>
        <translation>別のモデル用です</translation>
    </message>
    <message>
        <source>Choose one made for this model.</source>
        <translation>このメインモデル用のドラフトモデルを選んでください。</translation>
    </message>
    <message>
        <source>It needs keys and values this model lacks.</source>
        <translation>このモデルにないキーと値を読み取るドラフトモデルです。</translation>
    </message>
    <message>
        <source>No drafters for this model</source>
        <translation>このモデルには専用ドラフトモデルを使えません</translation>
    </message>
    <message>
        <source>Drafters need hidden states this model lacks.</source>
        <translation>専用ドラフトモデルは隠れ状態を読みますが、このモデルからは読み取れません。</translation>
    </message>
    <message>
        <source>Drafter misread</source>
        <translation>ドラフトモデルを正しく読み取れていません</translation>
    </message>
    <message>
        <source>Read another way, it guesses better.</source>
        <translation>ファイルを別の方式で読むと、予測がより多く当たります。</translation>
    </message>
    <message>
        <source>Replies are unaffected.</source>
        <translation>回答に影響はありません。</translation>
    </message>
    <message>
        <source>Only %1 tokens per pass in a test.</source>
        <translation>テストでは 1 パスあたり %1 トークンだけでした。</translation>
    </message>
    <message>
        <source>Model cannot see pictures</source>
        <translation>このモデルは画像を認識できません</translation>
    </message>
    <message>
        <source>Pictures stay in this chat.</source>
        <translation>画像はチャットに残ります。</translation>
    </message>
    <message>
        <source>Not enough memory for this picture</source>
        <translation>この画像を見るにはメモリが足りません</translation>
    </message>
    <message>
        <source>Lower the picture detail, or close other apps.</source>
        <translation>画像の細かさを下げるか、ほかのアプリを閉じてください。</translation>
    </message>
    <message>
        <source>Start with your own message, or remove the system prompt.</source>
        <translation>自分のメッセージから始めるか、システムプロンプトを削除してください。</translation>
    </message>
    <message>
        <source>Over several Macs, %1 (“%2”) cannot take back drafts that were rejected.</source>
        <translation>複数の Mac では、%1（%2）は受理されなかったドラフトを巻き戻せません。</translation>
    </message>
    <message>
        <source>%1 (“%2”) divides into equal parts only.</source>
        <translation>%1（%2）は均等にしか分割できません。</translation>
    </message>
    <message>
        <source>%1 (“%2”) has not been tried over several Macs yet.</source>
        <translation>%1（%2）は複数の Mac でまだ試されていません。</translation>
    </message>
    <message>
        <source>%1, which has some of its layers, no longer answers.</source>
        <translation>レイヤーの一部を受け持つ %1 から応答がありません。</translation>
    </message>
    <message>
        <source>The other Mac has stopped lending</source>
        <translation>もう一方の Mac が貸し出しをやめました</translation>
    </message>
    <message>
        <source>Wait ten minutes, or turn Lend memory to other Macs off and on there.</source>
        <translation>10 分待つか、その Mac で「ほかの Mac にメモリを貸す」をオフにしてからオンにしてください。</translation>
    </message>
    <message>
        <source>Try again when it is back, or run the model on this Mac alone.</source>
        <translation>その Mac が戻ったら再試行するか、この Mac だけでモデルを実行してください。</translation>
    </message>
    <message>
        <source>The chat file in %1 was replaced by another one.</source>
        <translation>%1 のチャットファイルが別のファイルに置き換えられました。</translation>
    </message>
    <message>
        <source>Quit Hunch and open it again.</source>
        <translation>Hunch を終了して、もう一度開いてください。</translation>
    </message>
    <message>
        <source>MLX cannot load %1.</source>
        <translation>%1 は MLX で読み込めません。</translation>
    </message>
    <message>
        <source>MLX cannot read the weights of %1 (“%2”).</source>
        <translation>%1 の重み「%2」は MLX で読み込めません。</translation>
    </message>
    <message>
        <source>This chat no longer fits</source>
        <translation>チャットが入りきりません</translation>
    </message>
    <message>
        <source>Go on without the oldest messages, or start a new chat.</source>
        <translation>古いメッセージを省いて続けるか、新しいチャットを始めてください。</translation>
    </message>
    <message>
        <source>Too long to read</source>
        <translation>長すぎて読めません</translation>
    </message>
    <message>
        <source>What must be read has %1 tokens; the model holds %2.</source>
        <translation>必ず読む部分が %1 トークンあります。モデルが扱えるのは %2 トークンです。</translation>
    </message>
    <message>
        <source>Shorten the message or the instructions, unpin messages, or choose a longer-context model.</source>
        <translation>メッセージや指示を短くする、メッセージのピン留めを解除する、またはコンテキストの長いモデルを選んでください。</translation>
    </message>
    <message>
        <source>%1 (“%2”) runs only over two Macs of one chip, on a Thunderbolt 5 cable.</source>
        <translation>複数の Mac で %1（%2）を実行できるのは、同じチップの Mac 2 台を Thunderbolt 5 ケーブルでつないだときだけです。</translation>
    </message>
    <message>
        <source>%1 could not run its layers.</source>
        <translation>%1 は受け持つレイヤーを実行できませんでした。</translation>
    </message>
    <message>
        <source>%1 has too little free memory for its layers.</source>
        <translation>%1 には、受け持つレイヤーに必要な空きメモリがありません。</translation>
    </message>
    <message>
        <source>Close other apps there, or choose a smaller model.</source>
        <translation>そちらでほかのアプリを閉じるか、より小さいモデルを選んでください。</translation>
    </message>
    <message>
        <source>A process could not run its layers.</source>
        <translation>プロセスが受け持つレイヤーを実行できませんでした。</translation>
    </message>
    <message>
        <source>The other Mac is out of reach</source>
        <translation>もう一方の Mac に接続できません</translation>
    </message>
    <message>
        <source>Nothing answers at %1.</source>
        <translation>%1 から応答がありません。</translation>
    </message>
    <message>
        <source>Check that it is awake, in this network, with Lend memory to other Macs on.</source>
        <translation>その Mac がスリープしておらず、同じネットワークにあり、「ほかの Mac にメモリを貸す」がオンになっているか確認してください。</translation>
    </message>
    <message>
        <source>This Mac finds no way to %1.</source>
        <translation>この Mac から %1 への経路が見つかりません。</translation>
    </message>
    <message>
        <source>Check that it is awake and in this network, and allow Hunch in System Settings → Privacy &amp; Security → Local Network.</source>
        <translation>その Mac がスリープしておらず、同じネットワークにあるか確認し、「システム設定」→「プライバシーとセキュリティ」→「ローカルネットワーク」で Hunch を許可してください。</translation>
    </message>
    <message>
        <source>No longer paired</source>
        <translation>ペアリングが解除されています</translation>
    </message>
    <message>
        <source>The Mac at %1 does not know this one.</source>
        <translation>%1 の Mac はこの Mac を認識していません。</translation>
    </message>
    <message>
        <source>Remove it here, then pair again.</source>
        <translation>ここで削除してから、もう一度ペアリングしてください。</translation>
    </message>
    <message>
        <source>No pairing code</source>
        <translation>ペアリングコードがありません</translation>
    </message>
    <message>
        <source>The Mac at %1 shows no code, or it has run out.</source>
        <translation>%1 の Mac にコードが表示されていないか、期限が切れています。</translation>
    </message>
    <message>
        <source>Show a new code there.</source>
        <translation>その Mac で新しいコードを表示してください。</translation>
    </message>
    <message>
        <source>Wrong code</source>
        <translation>コードが違います</translation>
    </message>
    <message>
        <source>The Mac at %1 shows another code.</source>
        <translation>%1 の Mac に表示されているコードと異なります。</translation>
    </message>
    <message>
        <source>Type its eight digits again. After five tries it needs a new code.</source>
        <translation>8 桁の数字をもう一度入力してください。5 回間違えると新しいコードが必要です。</translation>
    </message>
    <message>
        <source>The other Mac is in use</source>
        <translation>もう一方の Mac は使用中です</translation>
    </message>
    <message>
        <source>The other Mac lends to %1 now.</source>
        <translation>その Mac は現在 %1 に貸し出し中です。</translation>
    </message>
    <message>
        <source>Wait, or press Stop now there.</source>
        <translation>待つか、その Mac で「今すぐ停止」を押してください。</translation>
    </message>
    <message>
        <source>Stop now was pressed on the Mac at %1.</source>
        <translation>%1 の Mac で「今すぐ停止」が押されました。</translation>
    </message>
    <message>
        <source>The Mac at %1 now lends less than this model needs there.</source>
        <translation>%1 の Mac が今貸しているメモリは、このモデルに必要な量より少なくなっています。</translation>
    </message>
    <message>
        <source>Model missing on the other Mac</source>
        <translation>もう一方の Mac にモデルがありません</translation>
    </message>
    <message>
        <source>The Mac at %1 has no model with the same files.</source>
        <translation>%1 の Mac に同じファイルのモデルがありません。</translation>
    </message>
    <message>
        <source>Install the same model there.</source>
        <translation>その Mac に同じモデルをインストールしてください。</translation>
    </message>
    <message>
        <source>The Mac at %1 has an older version than this one: %2.</source>
        <translation>%1 の Mac のバージョンはこの Mac より古いです：%2。</translation>
    </message>
    <message>
        <source>Update Hunch there.</source>
        <translation>その Mac で Hunch をアップデートしてください。</translation>
    </message>
    <message>
        <source>The Mac at %1 has a newer version than this one: %2.</source>
        <translation>%1 の Mac のバージョンはこの Mac より新しいです：%2。</translation>
    </message>
    <message>
        <source>Update Hunch on this Mac.</source>
        <translation>この Mac で Hunch をアップデートしてください。</translation>
    </message>
    <message>
        <source>Model differs on the other Mac</source>
        <translation>もう一方の Mac のモデルと異なります</translation>
    </message>
    <message>
        <source>The Mac at %1 has the same version of it with other contents.</source>
        <translation>%1 の Mac には、同じバージョンで内容の異なるモデルがあります。</translation>
    </message>
    <message>
        <source>Verify it on both Macs, under Models, and repair the one that is damaged.</source>
        <translation>両方の Mac の「モデル」で検証し、破損しているほうを修復してください。</translation>
    </message>
    <message>
        <source>The Mac at %1 answers in another way.</source>
        <translation>%1 の Mac は異なる形式で応答します。</translation>
    </message>
    <message>
        <source>Install the same version of Hunch on both.</source>
        <translation>両方に同じバージョンの Hunch をインストールしてください。</translation>
    </message>
    <message>
        <source>It expects %1 layers; this model has %2.</source>
        <translation>%1 層用ですが、このモデルは %2 層です。</translation>
    </message>
    <message>
        <source>Only %1 of %2 tokens match; nine in ten must.</source>
        <translation>%2 個のトークンのうち一致するのは %1 個だけです。9 割以上の一致が必要です。</translation>
    </message>
    <message>
        <source>It expects width %1; this model has %2.</source>
        <translation>幅 %1 用ですが、このモデルの幅は %2 です。</translation>
    </message>
    <message>
        <source>It expects %1 vocabulary tokens; this model has %2.</source>
        <translation>語彙が %1 トークンのモデル用ですが、このモデルは %2 トークンです。</translation>
    </message>
    <message>
        <source>Drafter hardly helps</source>
        <translation>ドラフトがほとんど役に立っていません</translation>
    </message>
    <message>
        <source>It may be for another model.</source>
        <translation>別のモデル用かもしれません。</translation>
    </message>
    <message>
        <source>%1 is private or closed to this token.</source>
        <translation>%1 は非公開か、このトークンにはアクセス権がありません。</translation>
    </message>
    <message>
        <source>%1 is not a hub address.</source>
        <translation>%1 はハブのアドレスではありません。</translation>
    </message>
    <message>
        <source>No connection to %1.</source>
        <translation>%1 への接続がありません。</translation>
    </message>
    <message>
        <source>%1 refused the connection.</source>
        <translation>%1 に接続を拒否されました。</translation>
    </message>
    <message>
        <source>%1 did not answer.</source>
        <translation>%1 から応答がありません。</translation>
    </message>
    <message>
        <source>%1 has an untrusted certificate.</source>
        <translation>%1 の証明書を信頼できません。</translation>
    </message>
    <message>
        <source>Check this Mac&apos;s date, network and hub address.</source>
        <translation>この Mac の日付、ネットワーク、ハブのアドレスを確認してください。</translation>
    </message>
    <message>
        <source>The proxy does not reach %1.</source>
        <translation>プロキシから %1 に接続できません。</translation>
    </message>
    <message>
        <source>Check the proxy in Settings.</source>
        <translation>設定でプロキシを確認してください。</translation>
    </message>
    <message>
        <source>%1 is busy.</source>
        <translation>%1 は混み合っています。</translation>
    </message>
    <message>
        <source>Try again later. Downloaded data is kept.</source>
        <translation>あとで再試行してください。ダウンロード済みの分は残っています。</translation>
    </message>
    <message>
        <source>Connection to %1 lost.</source>
        <translation>%1 との接続が切れました。</translation>
    </message>
    <message>
        <source>Offline mode is on</source>
        <translation>オフラインモードがオンです</translation>
    </message>
    <message>
        <source>Offline mode blocks the hub.</source>
        <translation>オフラインモードではハブに接続しません。</translation>
    </message>
    <message>
        <source>Turn it off in Settings.</source>
        <translation>設定でオフにしてください。</translation>
    </message>
    <message>
        <source>Search not available</source>
        <translation>検索できません</translation>
    </message>
    <message>
        <source>%1 cannot be searched.</source>
        <translation>%1 は検索できません。</translation>
    </message>
    <message>
        <source>Enter a repository name.</source>
        <translation>リポジトリ名を入力してください。</translation>
    </message>
    <message>
        <source>Invalid response from the hub.</source>
        <translation>ハブから不正な応答がありました。</translation>
    </message>
    <message>
        <source>Token not sent</source>
        <translation>トークンは送信されていません</translation>
    </message>
    <message>
        <source>%1 is not encrypted: others could read it.</source>
        <translation>%1 は暗号化されていないため、他人がトークンを読み取れます。</translation>
    </message>
    <message>
        <source>Use https, or allow it in Settings.</source>
        <translation>https を使うか、設定で許可してください。</translation>
    </message>
    <message>
        <source>%1 has only drafters, in folders: %2.</source>
        <translation>%1 にモデルはなく、フォルダ内の専用ドラフトモデルだけがあります：%2。</translation>
    </message>
    <message>
        <source>Install one by name.</source>
        <translation>名前でどれか 1 つをインストールしてください。</translation>
    </message>
    <message>
        <source>File missing</source>
        <translation>ハブにファイルがありません</translation>
    </message>
    <message>
        <source>The hub lacks %1 of %2.</source>
        <translation>ハブに %2 の %1 がありません。</translation>
    </message>
    <message>
        <source>File not usable</source>
        <translation>ファイルを使用できません</translation>
    </message>
    <message>
        <source>%1 of %2 has %3; limit: %4.</source>
        <translation>%2 の %1 は %3 です。上限は %4 です。</translation>
    </message>
    <message>
        <source>%1 of %2 is damaged on the hub.</source>
        <translation>ハブ上の %2 の %1 が破損しています。</translation>
    </message>
    <message>
        <source>%1 lacks: %2.</source>
        <translation>%1 に必要なファイルがありません：%2。</translation>
    </message>
    <message>
        <source>%1 needs %2; of %3 free, other downloads need %4.</source>
        <translation>%1 にはディスクの空きが %2 必要です。空きは %3 ですが、そのうち %4 はほかのダウンロードが使います。</translation>
    </message>
    <message>
        <source>Cancel a download, or delete a model.</source>
        <translation>ダウンロードをキャンセルするか、モデルを削除してください。</translation>
    </message>
    <message>
        <source>Delete a model.</source>
        <translation>モデルを削除してください。</translation>
    </message>
    <message>
        <source>Models folder not usable</source>
        <translation>モデルのフォルダを使えません</translation>
    </message>
    <message>
        <source>Another copy of Hunch is installing %1.</source>
        <translation>別の Hunch が %1 をインストール中です。</translation>
    </message>
    <message>
        <source>%1 is a file, not a folder.</source>
        <translation>%1 はフォルダではなくファイルです。</translation>
    </message>
    <message>
        <source>Move the file.</source>
        <translation>ファイルを移動してください。</translation>
    </message>
    <message>
        <source>%1 cannot be written to.</source>
        <translation>%1 に書き込めません。</translation>
    </message>
    <message>
        <source>Connect its disk, or allow writing.</source>
        <translation>ディスクを接続するか、書き込みを許可してください。</translation>
    </message>
    <message>
        <source>Not deleted</source>
        <translation>削除できませんでした</translation>
    </message>
    <message>
        <source>%1 is part of Hunch.</source>
        <translation>%1 は Hunch に付属しているため削除できません。</translation>
    </message>
    <message>
        <source>%1 is writing a reply. Stop it first.</source>
        <translation>%1 で回答を書いています。先に停止してください。</translation>
    </message>
    <message>
        <source>Another app installed %1. Delete it there.</source>
        <translation>%1 は別のアプリがインストールしました。そのアプリで削除してください。</translation>
    </message>
    <message>
        <source>The disk with %1 is read-only.</source>
        <translation>%1 のあるディスクは読み出し専用です。</translation>
    </message>
    <message>
        <source>Another program is using %1.</source>
        <translation>ほかのプログラムが %1 を使用しています。</translation>
    </message>
    <message>
        <source>%1 could not be deleted.</source>
        <translation>%1 を削除できませんでした。</translation>
    </message>
    <message>
        <source>Model files changed</source>
        <translation>モデルのファイルが変更されました</translation>
    </message>
    <message>
        <source>The files of %1 have changed.</source>
        <translation>%1 のファイルが変更されました。</translation>
    </message>
    <message>
        <source>Choose a model that can.</source>
        <translation>画像を認識できるモデルを選んでください。</translation>
    </message>
    <message>
        <source>Model cannot be divided</source>
        <translation>モデルを分割できません</translation>
    </message>
    <message>
        <source>The layers of %1 (“%2”) cannot run apart from each other.</source>
        <translation>%1（%2）のレイヤーは、分けて動かせません。</translation>
    </message>
    <message>
        <source>The two Macs do not match</source>
        <translation>2 台の Mac が一致しません</translation>
    </message>
    <message>
        <source>They have different versions of Hunch, or of the model.</source>
        <translation>Hunch またはモデルのバージョンが異なります。</translation>
    </message>
    <message>
        <source>Install the same on both.</source>
        <translation>両方に同じものをインストールしてください。</translation>
    </message>
    <message>
        <source>Part of the model is gone</source>
        <translation>モデルの一部が失われました</translation>
    </message>
    <message>
        <source>A process with some of its layers no longer answers.</source>
        <translation>一部のレイヤーを受け持つプロセスが応答しなくなりました。</translation>
    </message>
    <message>
        <source>Load the model again.</source>
        <translation>モデルを読み込み直してください。</translation>
    </message>
    <message>
        <source>Not enough memory on the other Mac</source>
        <translation>もう一方の Mac のメモリが足りません</translation>
    </message>
    <message>
        <source>Unload the model that is loaded there, or choose a smaller one.</source>
        <translation>その Mac に読み込まれているモデルをメモリから外すか、小さいモデルを選んでください。</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>メモリを使い切りました</translation>
    </message>
    <message>
        <source>Engine closed</source>
        <translation>エンジンは終了しています</translation>
    </message>
    <message>
        <source>Hunch was quitting.</source>
        <translation>Hunch は終了中でした。</translation>
    </message>
    <message>
        <source>Reopen Hunch to continue.</source>
        <translation>Hunch を開き直して続けてください。</translation>
    </message>
    <message>
        <source>MLX cannot be loaded</source>
        <translation>MLX を読み込めません</translation>
    </message>
    <message>
        <source>Not installed; this is %1.</source>
        <translation>インストールされていません。このマシンは %1 です。</translation>
    </message>
    <message>
        <source>Reinstall Hunch.</source>
        <translation>Hunch を再インストールしてください。</translation>
    </message>
    <message>
        <source>Installed for %2; this is %1.</source>
        <translation>%2 用にインストールされていますが、このマシンは %1 です。</translation>
    </message>
    <message>
        <source>Update macOS, or reinstall Hunch.</source>
        <translation>macOS をアップデートするか、Hunch を再インストールしてください。</translation>
    </message>
    <message>
        <source>Something went wrong in Hunch</source>
        <translation>Hunch で問題が起きました</translation>
    </message>
    <message>
        <source>This is a bug.</source>
        <translation>Hunch の不具合です。</translation>
    </message>
    <message>
        <source>See the log.</source>
        <translation>ログを確認してください。</translation>
    </message>
    <message>
        <source>Not saved; your text is kept</source>
        <translation>未保存ですが、文章は残っています</translation>
    </message>
    <message>
        <source>The disk with %1 is full.</source>
        <translation>%1 のあるディスクがいっぱいです。</translation>
    </message>
    <message>
        <source>Free some space.</source>
        <translation>空き容量を増やしてください。</translation>
    </message>
    <message>
        <source>Another program locked your chats.</source>
        <translation>別のプログラムがチャットのファイルをロックしています。</translation>
    </message>
    <message>
        <source>Close that program.</source>
        <translation>そのプログラムを閉じてください。</translation>
    </message>
    <message>
        <source>No permission to write to %1.</source>
        <translation>Hunch に %1 へ書き込む権限がありません。</translation>
    </message>
    <message>
        <source>Allow access.</source>
        <translation>許可してください。</translation>
    </message>
    <message>
        <source>Check the disk.</source>
        <translation>ディスクを確認してください。</translation>
    </message>
    <message>
        <source>Chats cannot be opened</source>
        <translation>チャットを開けません</translation>
    </message>
    <message>
        <source>The chat file in %1 is unreadable, but unchanged.</source>
        <translation>%1 にあるチャットのファイルを読み込めません。ファイルは変更していません。</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>モデルを選択</translation>
    </message>
    <message>
        <source>Choose a draft</source>
        <translation>ドラフトモデルを選択</translation>
    </message>
    <message>
        <source>Open Models</source>
        <translation>モデルを開く</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>設定を開く</translation>
    </message>
    <message>
        <source>Install a model</source>
        <translation>モデルをインストール</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>続きを生成</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新規チャット</translation>
    </message>
    <message>
        <source>Go on without them</source>
        <translation>画像なしで続ける</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>このペアではオフにする</translation>
    </message>
    <message>
        <source>Drafting is off.</source>
        <translation>ドラフトはオフです。</translation>
    </message>
    <message>
        <source>No draft loaded.</source>
        <translation>ドラフトモデルが読み込まれていません。</translation>
    </message>
    <message>
        <source>The draft is still reading the chat.</source>
        <translation>ドラフトモデルはまだチャットを読んでいます。</translation>
    </message>
    <message>
        <source>Paused: drafting would be slower.</source>
        <translation>休止中：ドラフトを使うと遅くなります。</translation>
    </message>
    <message>
        <source>Drafting pauses while several replies are written.</source>
        <translation>複数の回答を書いている間は、ドラフトを休止します。</translation>
    </message>
    <message>
        <source>No drafting: this model&apos;s cache cannot be rolled back.</source>
        <translation>このモデルはキャッシュを巻き戻せないため、ドラフトモデルを使えません。</translation>
    </message>
    <message>
        <source>The draft failed; the main model finished alone.</source>
        <translation>ドラフトモデルで問題が起き、メインモデルだけで書きました。</translation>
    </message>
    <message>
        <source>The starter pair knows only Hunch</source>
        <translation>スターターペアが知っているのは Hunch のことだけです</translation>
    </message>
    <message>
        <source>For anything else, install a larger model.</source>
        <translation>ほかの話題には、より大きなモデルをインストールしてください。</translation>
    </message>
    <message>
        <source>Reply interrupted</source>
        <translation>回答が中断されました</translation>
    </message>
    <message>
        <source>It was cut short.</source>
        <translation>最後まで書かれていません。</translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation>まだ保存されていません</translation>
    </message>
    <message>
        <source>Hunch keeps trying to save this reply.</source>
        <translation>この回答の保存を試み続けています。</translation>
    </message>
    <message>
        <source>Free some space and keep Hunch open.</source>
        <translation>空き容量を増やし、Hunch を開いたままにしてください。</translation>
    </message>
    <message>
        <source>Message unreadable</source>
        <translation>このメッセージは読み込めません</translation>
    </message>
    <message>
        <source>The chat file is damaged here.</source>
        <translation>チャットのファイルのこの部分が破損しています。</translation>
    </message>
    <message>
        <source>Model changed</source>
        <translation>モデルが変更されました</translation>
    </message>
    <message>
        <source>Its model was unloaded.</source>
        <translation>回答中のモデルがメモリから外されました。</translation>
    </message>
    <message>
        <source>Memory full</source>
        <translation>メモリがいっぱいです</translation>
    </message>
    <message>
        <source>Start a new chat, or choose a smaller model.</source>
        <translation>新しいチャットを始めるか、より小さいモデルを選んでください。</translation>
    </message>
    <message>
        <source>Context full</source>
        <translation>コンテキストがいっぱいです</translation>
    </message>
    <message>
        <source>Continue without the oldest messages, or start a new chat.</source>
        <translation>古いメッセージを省いて続けるか、新しいチャットを始めてください。</translation>
    </message>
    <message>
        <source>Reply limit reached</source>
        <translation>回答の長さの上限に達しました</translation>
    </message>
    <message>
        <source>Continue, or raise the limit.</source>
        <translation>続きを生成するか、上限を引き上げてください。</translation>
    </message>
</context>
<context>
    <name>ModelLinksPage</name>
    <message>
        <source>Your models</source>
        <translation>マイモデル</translation>
    </message>
    <message>
        <source>Models are in the sidebar of the main window.</source>
        <translation>モデルはメインウインドウのサイドバーにあります。</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>モデルを探す</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>Contacting hub…</source>
        <translation>ハブに問い合わせ中…</translation>
    </message>
    <message>
        <source>license %1</source>
        <translation>ライセンス %1</translation>
    </message>
    <message>
        <source>made from %1</source>
        <translation>元のモデル %1</translation>
    </message>
    <message>
        <source>Install, %1</source>
        <translation>インストール（%1）</translation>
    </message>
    <message>
        <source>Nothing to install</source>
        <translation>インストールできるものがありません</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>インストール済み</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>戻る</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>インストール</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>使う</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>再試行</translation>
    </message>
    <message>
        <source>Matching drafts</source>
        <translation>組み合わせられるドラフト</translation>
    </message>
    <message>
        <source>Find drafts</source>
        <translation>ドラフトを探す</translation>
    </message>
    <message>
        <source>Open model page</source>
        <translation>モデルのページを開く</translation>
    </message>
    <message>
        <source>Read the rest on the model page</source>
        <translation>続きをモデルのページで読む</translation>
    </message>
    <message>
        <source>Installed files</source>
        <translation>インストールされるファイル</translation>
    </message>
    <message>
        <source>From the author</source>
        <translation>作成者の説明</translation>
    </message>
    <message>
        <source>Accept the terms on its page, then add your token in Settings.</source>
        <translation>ページで利用条件に同意し、設定にトークンを入力してください。</translation>
    </message>
</context>
<context>
    <name>ModelRow</name>
    <message>
        <source>Use</source>
        <translation>使う</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 を使う</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>再読み込み</translation>
    </message>
    <message>
        <source>Reload %1</source>
        <translation>%1 を再読み込み</translation>
    </message>
    <message>
        <source>Run over 2 Macs…</source>
        <translation>2 台の Mac で実行…</translation>
    </message>
    <message>
        <source>Run %1 over 2 Macs</source>
        <translation>%1 を 2 台の Mac で実行</translation>
    </message>
    <message>
        <source>More about %1</source>
        <translation>%1 の詳細</translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation>%1 を削除</translation>
    </message>
    <message>
        <source>Main model in use</source>
        <translation>メインモデルとして使用中</translation>
    </message>
    <message>
        <source>Draft in use</source>
        <translation>ドラフトとして使用中</translation>
    </message>
    <message>
        <source>Updated on disk, not reloaded yet.</source>
        <translation>ファイルは更新済みですが、読み込まれているのは以前のバージョンです。</translation>
    </message>
    <message>
        <source>can think</source>
        <translation>思考対応</translation>
    </message>
    <message>
        <source>deleting…</source>
        <translation>削除しています…</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>確認しています…</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>破損あり</translation>
    </message>
    <message>
        <source>update available</source>
        <translation>アップデートあり</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>フォルダに表示</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>チャットテンプレート</translation>
    </message>
    <message>
        <source>Stop verifying</source>
        <translation>検証を中止</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>検証</translation>
    </message>
    <message>
        <source>Check for update</source>
        <translation>アップデートを確認</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>修復</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>アップデート</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>Hugging Face cache</source>
        <translation>Hugging Face キャッシュ</translation>
    </message>
    <message>
        <source>%1 drafter</source>
        <translation>%1 ドラフトモデル</translation>
    </message>
    <message>
        <source>%1-bit</source>
        <translation>%1 ビット</translation>
    </message>
    <message>
        <source>sees pictures</source>
        <translation>画像認識対応</translation>
    </message>
    <message>
        <source>comes with Hunch</source>
        <translation>Hunch に付属</translation>
    </message>
    <message>
        <source>installed by Hunch</source>
        <translation>Hunch でインストール</translation>
    </message>
    <message>
        <source>added folder</source>
        <translation>追加したフォルダ</translation>
    </message>
    <message>
        <source>runs well</source>
        <translation>快適に動作</translation>
    </message>
    <message>
        <source>may be slow</source>
        <translation>遅いことがあります</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>大きすぎます</translation>
    </message>
    <message>
        <source>%1 of %3 with a chat of %2 tokens</source>
        <translation>%2 トークンのチャットで %1（使えるのは %3）</translation>
    </message>
    <message>
        <source>%1 tokens fit</source>
        <translation>最大 %1 トークン</translation>
    </message>
    <message>
        <source>slower on %2 (%1×)</source>
        <translation>%2 では遅くなります（%1 倍）</translation>
    </message>
    <message>
        <source>%1× faster in chats on %2</source>
        <translation>%2 でチャットが %1 倍の速さ</translation>
    </message>
    <message>
        <source>%1× faster in code on %2</source>
        <translation>%2 でコードが %1 倍の速さ</translation>
    </message>
    <message>
        <source>%1× faster in math on %2</source>
        <translation>%2 で数学が %1 倍の速さ</translation>
    </message>
    <message>
        <source>%1× faster on %2</source>
        <translation>%2 で %1 倍の速さ</translation>
    </message>
    <message>
        <source>Text model, no chat template</source>
        <translation>チャットテンプレートのないテキストモデル</translation>
    </message>
    <message>
        <source>Chat model</source>
        <translation>チャットモデル</translation>
    </message>
    <message>
        <source>pictures</source>
        <translation>画像</translation>
    </message>
    <message>
        <source>thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>tools</source>
        <translation>ツール</translation>
    </message>
    <message>
        <source>drafts for %1</source>
        <translation>%1 のドラフト</translation>
    </message>
    <message>
        <source>made for %1</source>
        <translation>%1 専用</translation>
    </message>
    <message>
        <source>main model not installed</source>
        <translation>メインモデルがインストールされていません</translation>
    </message>
    <message>
        <source>not supported: several tokens at once change its results</source>
        <translation>非対応：複数のトークンをまとめて読むと結果が変わります</translation>
    </message>
    <message>
        <source>none installed</source>
        <translation>未インストール</translation>
    </message>
    <message>
        <source>has its own drafter</source>
        <translation>専用ドラフトモデルを内蔵</translation>
    </message>
    <message>
        <source>%1 can draft for it</source>
        <translation>ドラフトに使えるモデル：%1</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 トークン</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>系列</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>種類</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>パラメータ</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>コンテキスト</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>メモリ</translation>
    </message>
    <message>
        <source>Can do</source>
        <translation>対応機能</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>ドラフト</translation>
    </message>
    <message>
        <source>Languages</source>
        <translation>言語</translation>
    </message>
    <message>
        <source>License</source>
        <translation>ライセンス</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>リポジトリ</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>フォルダ</translation>
    </message>
    <message>
        <source>%1 fit in memory</source>
        <translation>メモリには %1 まで</translation>
    </message>
    <message>
        <source>limited to %1 in Settings</source>
        <translation>設定で %1 に制限</translation>
    </message>
    <message>
        <source>%1 set in Settings</source>
        <translation>設定では %1</translation>
    </message>
    <message>
        <source>In use as main model; the starter pair replaces it.</source>
        <translation>メインモデルとして使用中です。削除するとスターターペアに切り替わります。</translation>
    </message>
    <message>
        <source>In use as draft; replies continue without one.</source>
        <translation>ドラフトとして使用中です。削除すると、回答はドラフトなしになります。</translation>
    </message>
    <message>
        <source>It can draft for %1.</source>
        <translation>%1 のドラフトとして使えます。</translation>
    </message>
    <message>
        <source>Reading files, %1</source>
        <translation>ファイルを読み込み中… %1</translation>
    </message>
    <message>
        <source>All files are intact.</source>
        <translation>すべてのファイルは正常です。</translation>
    </message>
    <message>
        <source>Damaged or missing: %1.</source>
        <translation>破損または不足：%1。</translation>
    </message>
    <message>
        <source>Cannot tell: not installed by Hunch.</source>
        <translation>Hunch がインストールしたものではないため、わかりません。</translation>
    </message>
    <message>
        <source>Contacting hub…</source>
        <translation>ハブに問い合わせ中…</translation>
    </message>
    <message>
        <source>Up to date.</source>
        <translation>最新です。</translation>
    </message>
    <message>
        <source>Update available.</source>
        <translation>アップデートがあります。</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>一時停止中</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>ダウンロード中</translation>
    </message>
    <message>
        <source>Use %1 and its draft</source>
        <translation>%1 とそのドラフトを使う</translation>
    </message>
    <message>
        <source>Use both</source>
        <translation>両方使う</translation>
    </message>
    <message>
        <source>Install %1 and its draft</source>
        <translation>%1 とそのドラフトをインストール</translation>
    </message>
    <message>
        <source>Install both</source>
        <translation>両方インストール</translation>
    </message>
    <message>
        <source>Install %1</source>
        <translation>%1 をインストール</translation>
    </message>
    <message>
        <source>about %1 to download</source>
        <translation>ダウンロード 約 %1</translation>
    </message>
    <message>
        <source>has a draft</source>
        <translation>ドラフトあり</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>%1 was not downloaded</source>
        <translation>%1 をダウンロードできませんでした</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>表示</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
</context>
<context>
    <name>ModelsView</name>
    <message>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>マイモデル</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>探す</translation>
    </message>
</context>
<context>
    <name>MoveOffer</name>
    <message>
        <source>It runs from a temporary place, such as a disk image.</source>
        <translation>ディスクイメージなど、なくなる場所から実行されています。</translation>
    </message>
    <message>
        <source>Move Hunch to Applications?</source>
        <translation>Hunch をアプリケーションフォルダに移動しますか？</translation>
    </message>
    <message>
        <source>Move and Reopen</source>
        <translation>移動して開き直す</translation>
    </message>
    <message>
        <source>Moving to Applications…</source>
        <translation>アプリケーションフォルダに移動中…</translation>
    </message>
    <message>
        <source>Drag Hunch to the Applications folder in Finder.</source>
        <translation>Finder で Hunch をアプリケーションフォルダにドラッグしてください。</translation>
    </message>
    <message>
        <source>Hunch could not move itself</source>
        <translation>Hunch を移動できませんでした</translation>
    </message>
</context>
<context>
    <name>NearbyCard</name>
    <message>
        <source>Pair</source>
        <translation>ペアリング</translation>
    </message>
    <message>
        <source>Pair with %1</source>
        <translation>%1 とペアリング</translation>
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
        <translation>ドラフトモデル：%1</translation>
    </message>
</context>
<context>
    <name>OptionField</name>
    <message>
        <source>As in Settings</source>
        <translation>設定どおり</translation>
    </message>
</context>
<context>
    <name>OptionForm</name>
    <message>
        <source>As in Settings</source>
        <translation>設定どおり</translation>
    </message>
    <message>
        <source>Text still varies</source>
        <translation>テキストは変わりうる</translation>
    </message>
    <message>
        <source>Different text each time</source>
        <translation>毎回異なるテキスト</translation>
    </message>
    <message>
        <source>Same seed, same text</source>
        <translation>同じシードなら同じテキスト</translation>
    </message>
    <message>
        <source>No effect at temperature 0</source>
        <translation>温度 0 では効果なし</translation>
    </message>
    <message>
        <source>No effect while drafting is off</source>
        <translation>ドラフトがオフのときは効果なし</translation>
    </message>
    <message>
        <source>This chat only</source>
        <translation>このチャットのみ</translation>
    </message>
    <message>
        <source>Default for this model</source>
        <translation>このモデルの既定値</translation>
    </message>
    <message>
        <source>This project</source>
        <translation>このプロジェクト</translation>
    </message>
    <message>
        <source>From preset</source>
        <translation>プリセットの値</translation>
    </message>
    <message>
        <source>From the project</source>
        <translation>プロジェクトの値</translation>
    </message>
</context>
<context>
    <name>Options</name>
    <message>
        <source>System prompt</source>
        <translation>システムプロンプト</translation>
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
        <translation>繰り返しペナルティ</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>シード</translation>
    </message>
    <message>
        <source>Fastest drafting</source>
        <translation>ドラフトの速度を優先</translation>
    </message>
    <message>
        <source>Reply limit</source>
        <translation>回答の長さの上限</translation>
    </message>
    <message>
        <source>Context limit</source>
        <translation>コンテキストの上限</translation>
    </message>
    <message>
        <source>Long chats</source>
        <translation>長いチャット</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Picture detail</source>
        <translation>画像の細かさ</translation>
    </message>
    <message>
        <source>Context memory</source>
        <translation>コンテキストのメモリ</translation>
    </message>
    <message>
        <source>Form of replies</source>
        <translation>回答の形式</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>ドラフト</translation>
    </message>
    <message>
        <source>%1 cannot keep to a form. Choose Free text in the chat settings.</source>
        <translation>%1 は形式に従えません。チャットの設定で「自由な文章」を選んでください。</translation>
    </message>
    <message>
        <source>Random</source>
        <translation>ランダム</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>上限なし</translation>
    </message>
    <message>
        <source>Same as model</source>
        <translation>モデルに従う</translation>
    </message>
    <message>
        <source>on</source>
        <translation>オン</translation>
    </message>
    <message>
        <source>off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自動</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>通常</translation>
    </message>
    <message>
        <source>Half</source>
        <translation>半分</translation>
    </message>
    <message>
        <source>Leave out the oldest</source>
        <translation>古いものから省く</translation>
    </message>
    <message>
        <source>Summarize the oldest</source>
        <translation>古いものを要約</translation>
    </message>
    <message>
        <source>Ask me</source>
        <translation>確認する</translation>
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
        <translation>標準</translation>
    </message>
    <message>
        <source>Up to %1 tokens</source>
        <translation>最大 %1 トークン</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
</context>
<context>
    <name>Overlay</name>
    <message>
        <source>Draft token %1 of %2 · pass %3</source>
        <translation>予測した %2 トークンの %1 番目 · パス %3</translation>
    </message>
    <message>
        <source>The draft wanted</source>
        <translation>ドラフトの予測</translation>
    </message>
    <message>
        <source>The main model wrote</source>
        <translation>メインモデルの選択</translation>
    </message>
    <message>
        <source>to end the reply</source>
        <translation>回答を終える</translation>
    </message>
    <message>
        <source>a part of another character</source>
        <translation>別の文字の一部</translation>
    </message>
</context>
<context>
    <name>OverlayMenu</name>
    <message>
        <source>None in sight.</source>
        <translation>表示中の範囲にはありません。</translation>
    </message>
    <message>
        <source>Draft marks are hidden.</source>
        <translation>ドラフトの表示はオフです。</translation>
    </message>
    <message>
        <source>Marked: guessed right.</source>
        <translation>言い当てた部分を表示しています。</translation>
    </message>
    <message>
        <source>Marked: guessed right, corrected.</source>
        <translation>言い当てた部分と修正箇所を表示しています。</translation>
    </message>
    <message>
        <source>No corrections in sight.</source>
        <translation>表示中の範囲に修正箇所はありません。</translation>
    </message>
    <message>
        <source>Always show</source>
        <translation>常に表示</translation>
    </message>
    <message>
        <source>Dotted: guessed right. Solid: corrected.</source>
        <translation>点線：言い当てた部分。実線：修正箇所。</translation>
    </message>
    <message>
        <source>Draft Marks</source>
        <translation>ドラフトの表示</translation>
    </message>
    <message>
        <source>Marked Words</source>
        <translation>表示する部分</translation>
    </message>
    <message>
        <source>Guessed Right</source>
        <translation>言い当てた部分</translation>
    </message>
    <message>
        <source>Guessed Right and Corrected</source>
        <translation>言い当てた部分と修正箇所</translation>
    </message>
    <message>
        <source>Next Correction</source>
        <translation>次の修正箇所</translation>
    </message>
    <message>
        <source>Previous Correction</source>
        <translation>前の修正箇所</translation>
    </message>
</context>
<context>
    <name>PairChip</name>
    <message>
        <source>Models: %1</source>
        <translation>モデル：%1</translation>
    </message>
    <message>
        <source>Unloaded; your next message reloads it.</source>
        <translation>メモリにありません。次のメッセージで読み込み直します。</translation>
    </message>
    <message>
        <source>%1 drafts for it, ahead of time.</source>
        <translation>%1 でもドラフトを先に準備しています。</translation>
    </message>
    <message>
        <source>off for this pair</source>
        <translation>このペアではオフ</translation>
    </message>
    <message>
        <source>answered together</source>
        <translation>同時に回答</translation>
    </message>
    <message>
        <source>off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>自動</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <comment>drafted per pass</comment>
        <translation>
            <numerusform>%Ln トークン</numerusform>
        </translation>
    </message>
    <message>
        <source>Loading %1… %2</source>
        <translation>%1 を読み込み中… %2</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>モデルを選択</translation>
    </message>
    <message>
        <source>Loading %1…</source>
        <translation>%1 を読み込み中…</translation>
    </message>
    <message>
        <source>%1 on 2 Macs</source>
        <translation>%1・Mac 2 台</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>%1 を読み込めません</translation>
    </message>
</context>
<context>
    <name>PairedCard</name>
    <message>
        <source>Runs part of %1.</source>
        <translation>%1 の一部を動かしています。</translation>
    </message>
    <message>
        <source>Change the address of %1</source>
        <translation>%1 のアドレスを変更</translation>
    </message>
    <message>
        <source>Change address</source>
        <translation>アドレスを変更</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 を削除</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>削除…</translation>
    </message>
    <message>
        <source>Remove %1?</source>
        <translation>%1 を削除しますか？</translation>
    </message>
    <message>
        <source>Neither Mac can use the other. To pair them again you need a new code.</source>
        <translation>どちらの Mac も相手を使えなくなります。もう一度ペアリングするには新しいコードが必要です。</translation>
    </message>
    <message>
        <source>The model that runs over both is unloaded.</source>
        <translation>2 台で動いているモデルはメモリから外されます。</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
</context>
<context>
    <name>PairingCard</name>
    <message>
        <source>Paired with %1.</source>
        <translation>%1 とペアリングしました。</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>接続中…</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>アドレス</translation>
    </message>
    <message>
        <source>On the other Mac, under Lend memory to other Macs.</source>
        <translation>もう一方の Mac の「ほかの Mac にメモリを貸す」に表示されているもの。</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>コード</translation>
    </message>
    <message>
        <source>Eight digits, from Show code there.</source>
        <translation>その Mac の「コードを表示」に出る 8 桁の数字。</translation>
    </message>
    <message>
        <source>Pair</source>
        <translation>ペアリング</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
</context>
<context>
    <name>Pairs</name>
    <message>
        <source>%1 more memory</source>
        <translation>メモリ +%1</translation>
    </message>
    <message>
        <source>slower here (%1)</source>
        <translation>この Mac では遅くなります（%1）</translation>
    </message>
    <message>
        <source>%1 on this Mac</source>
        <translation>この Mac で %1</translation>
    </message>
    <message>
        <source>slower</source>
        <translation>遅くなる</translation>
    </message>
    <message>
        <source>no gain expected (estimate)</source>
        <translation>この Mac では高速化は見込めません（推定）</translation>
    </message>
    <message>
        <source>about %1 in chats (estimate)</source>
        <translation>この Mac のチャットで約 %1（推定）</translation>
    </message>
    <message>
        <source>about %1 in code (estimate)</source>
        <translation>この Mac のコードで約 %1（推定）</translation>
    </message>
    <message>
        <source>about %1 in math (estimate)</source>
        <translation>この Mac の数学で約 %1（推定）</translation>
    </message>
    <message>
        <source>about %1 (estimate)</source>
        <translation>この Mac で約 %1（推定）</translation>
    </message>
    <message>
        <source>not measured here yet</source>
        <translation>この Mac では未測定</translation>
    </message>
    <message>
        <source>With %1: %2</source>
        <translation>%1 を使う場合：%2</translation>
    </message>
    <message>
        <source>Named after another model: may guess poorly.</source>
        <translation>別のモデル用の名前です。予測があまり当たらないことがあります。</translation>
    </message>
    <message>
        <source>Made for this main model.</source>
        <translation>このメインモデル専用です。</translation>
    </message>
    <message>
        <source>Both know the same %1 tokens.</source>
        <translation>両方のトークン %1 個はすべて同じです。</translation>
    </message>
    <message>
        <source>%1 of %2 tokens differ; none is text.</source>
        <translation>%2 トークン中 %1 個が異なりますが、テキストではありません。</translation>
    </message>
    <message>
        <source>%1 of %2 tokens match.</source>
        <translation>%2 個のトークンのうち %1 個が一致します。</translation>
    </message>
    <message>
        <source>Weights: %1, draft %2</source>
        <translation>重み：メインモデル %1、ドラフト %2</translation>
    </message>
    <message>
        <source>Vocabularies: %1 tokens, draft %2, shared %3</source>
        <translation>語彙：メインモデル %1 トークン、ドラフト %2、共通 %3</translation>
    </message>
    <message>
        <source>Same tokenization</source>
        <translation>テキストのトークン分割は同じです</translation>
    </message>
    <message>
        <source>Same tokens in four languages</source>
        <translation>4 言語の例文は同じトークンに分割されます</translation>
    </message>
    <message>
        <source>Tokenization could not be compared</source>
        <translation>テキストのトークン分割は比較できませんでした</translation>
    </message>
    <message>
        <source>Sample (%1): %2 tokens each, but different</source>
        <translation>例文（%1）：どちらも %2 トークンですが、内容は異なります</translation>
    </message>
    <message>
        <source>Sample (%1): %2 tokens, draft %3</source>
        <translation>例文（%1）：メインモデル %2 トークン、ドラフト %3</translation>
    </message>
    <message>
        <source>Same end tokens</source>
        <translation>回答を終えるトークンは同じです</translation>
    </message>
    <message>
        <source>Different end tokens</source>
        <translation>回答を終えるトークンが異なります</translation>
    </message>
    <message>
        <source>Same chat template</source>
        <translation>チャットテンプレートは同じです</translation>
    </message>
    <message>
        <source>Different chat templates; the main model&apos;s is used</source>
        <translation>チャットテンプレートが異なるため、メインモデルのものを使います</translation>
    </message>
</context>
<context>
    <name>PaletteCommands</name>
    <message>
        <source>Chat</source>
        <translation>チャット</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 を使う</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Settings: %1</source>
        <translation>設定：%1</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>言語</translation>
    </message>
</context>
<context>
    <name>Picker</name>
    <message>
        <source>No models installed.</source>
        <translation>モデルがインストールされていません。</translation>
    </message>
    <message>
        <source>Comparing…</source>
        <translation>比較しています…</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>最近使ったもの</translation>
    </message>
    <message>
        <source>All others</source>
        <translation>その他</translation>
    </message>
    <message>
        <source>Used as drafts</source>
        <translation>ドラフトとして使うモデル</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>確認しています…</translation>
    </message>
    <message>
        <source>No draft</source>
        <translation>ドラフトなし</translation>
    </message>
    <message>
        <source>Main model only</source>
        <translation>メインモデルのみ</translation>
    </message>
    <message>
        <source>Chat models</source>
        <translation>チャットモデル</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>専用ドラフトモデル</translation>
    </message>
    <message>
        <source>Comparing tokens…</source>
        <translation>トークンを比較しています…</translation>
    </message>
    <message>
        <source>also on %1</source>
        <translation>%1 でも実行</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>おすすめ</translation>
    </message>
    <message>
        <source>Compatible</source>
        <translation>使用可能</translation>
    </message>
    <message>
        <source>Not compatible</source>
        <translation>使用不可</translation>
    </message>
    <message>
        <source>Back to the models</source>
        <translation>モデル一覧に戻る</translation>
    </message>
    <message>
        <source>More</source>
        <translation>その他</translation>
    </message>
</context>
<context>
    <name>PickerLists</name>
    <message>
        <source>Main model</source>
        <translation>メインモデル</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>ドラフトモデル</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>モデルを検索</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>見つかりませんでした。</translation>
    </message>
</context>
<context>
    <name>PickerMore</name>
    <message>
        <source>Comparing…</source>
        <translation>比較しています…</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>レース…</translation>
    </message>
    <message>
        <source>Find a draft…</source>
        <translation>ドラフトを探す…</translation>
    </message>
    <message>
        <source>More models…</source>
        <translation>ほかのモデル…</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>メモリから外す</translation>
    </message>
    <message>
        <source>How the two compare</source>
        <translation>2 つのモデルの比較</translation>
    </message>
</context>
<context>
    <name>PictureViewer</name>
    <message>
        <source>This picture is not on the disk any more.</source>
        <translation>この画像はもうディスクにありません。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Remove from Message</source>
        <translation>メッセージから外す</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>PlanCard</name>
    <message>
        <source>Automatic measures which is faster.</source>
        <translation>「自動」では、速いほうを測って選びます。</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>方式</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>計画中…</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>With</source>
        <translation>一緒に使う Mac</translation>
    </message>
    <message>
        <source>Run over 2 Macs</source>
        <translation>2 台の Mac で実行</translation>
    </message>
    <message>
        <source>Run on this Mac alone</source>
        <translation>この Mac だけで実行</translation>
    </message>
</context>
<context>
    <name>Portable</name>
    <message>
        <source>The disk with %1 is full.</source>
        <translation>%1 のあるディスクがいっぱいです。</translation>
    </message>
    <message>
        <source>Free some space, or choose another place.</source>
        <translation>空き容量を増やすか、別の場所を選んでください。</translation>
    </message>
    <message>
        <source>No permission to write to %1.</source>
        <translation>Hunch に %1 へ書き込む権限がありません。</translation>
    </message>
    <message>
        <source>Choose another place.</source>
        <translation>別の場所を選んでください。</translation>
    </message>
    <message>
        <source>%1 no longer exists.</source>
        <translation>フォルダ %1 が見つかりません。</translation>
    </message>
    <message>
        <source>%1 cannot be written to.</source>
        <translation>%1 のあるディスクに書き込めませんでした。</translation>
    </message>
    <message>
        <source>Not exported</source>
        <translation>書き出せませんでした</translation>
    </message>
    <message>
        <source>Exported to “%1”.</source>
        <translation>「%1」に書き出しました。</translation>
    </message>
    <message>
        <source>Pictures left out because their files are missing or damaged: %1.</source>
        <translation>ファイルがないか破損しているため含まれていない画像：%1 枚。</translation>
    </message>
    <message>
        <source>Files left out because they are gone: %1.</source>
        <translation>見つからないため含まれていないファイル：%1 個。</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>表示</translation>
    </message>
    <message>
        <source>Chats imported: %1.</source>
        <translation>チャットを %1 件取り込みました。</translation>
    </message>
    <message>
        <source>Chats with new messages: %1.</source>
        <translation>%1 件のチャットに新しいメッセージを加えました。</translation>
    </message>
    <message>
        <source>Presets imported: %1.</source>
        <translation>プリセットを %1 件取り込みました。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
    <message>
        <source>not a supported chat file</source>
        <translation>対応しているチャットのファイルではありません</translation>
    </message>
    <message>
        <source>no messages</source>
        <translation>メッセージがありません</translation>
    </message>
    <message>
        <source>damaged, or not JSON</source>
        <translation>破損しているか、JSON ではありません</translation>
    </message>
    <message>
        <source>incomplete</source>
        <translation>末尾が欠けています</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>破損しています</translation>
    </message>
    <message>
        <source>Tool</source>
        <comment>that a reply has called</comment>
        <translation>ツール</translation>
    </message>
    <message>
        <source>Result</source>
        <comment>of a tool</comment>
        <translation>結果</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>大きすぎます</translation>
    </message>
    <message>
        <source>Pictures left out: %1. JSON takes 150 MB of them from each chat and 2 GB in all, Markdown takes all.</source>
        <translation>含まれていない画像：%1 枚。JSON に入るのはチャットごとに 150 MB、合わせて 2 GB までです。Markdown にはすべて入ります。</translation>
    </message>
    <message>
        <source>from a newer Hunch</source>
        <translation>新しいバージョンの Hunch のファイルです</translation>
    </message>
    <message>
        <source>password-protected</source>
        <translation>パスワードで保護されています</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>見つかりません</translation>
    </message>
    <message>
        <source>no permission</source>
        <translation>読み取り権限がありません</translation>
    </message>
    <message>
        <source>not readable</source>
        <translation>読み込めません</translation>
    </message>
    <message>
        <source>too complex</source>
        <translation>複雑すぎます</translation>
    </message>
    <message>
        <source>You</source>
        <comment>who wrote a message</comment>
        <translation>自分</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>思考</translation>
    </message>
    <message>
        <source>Attachment</source>
        <translation>添付ファイル</translation>
    </message>
</context>
<context>
    <name>PresetRow</name>
    <message>
        <source>Save as Preset…</source>
        <translation>プリセットとして保存…</translation>
    </message>
    <message>
        <source>Save Changes to Preset</source>
        <translation>変更をプリセットに保存</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>名前を変更…</translation>
    </message>
    <message>
        <source>Delete Preset…</source>
        <translation>プリセットを削除…</translation>
    </message>
    <message>
        <source>Delete the preset “%1”?</source>
        <translation>プリセット「%1」を削除しますか？</translation>
    </message>
    <message>
        <source>Chats keep its settings. This cannot be undone.</source>
        <translation>チャットの設定は残ります。元に戻せません。</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>No preset</source>
        <translation>プリセットなし</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>プリセット</translation>
    </message>
    <message>
        <source>Manage presets</source>
        <translation>プリセットを管理</translation>
    </message>
    <message>
        <source>Preset name</source>
        <translation>プリセット名</translation>
    </message>
</context>
<context>
    <name>ProgressPart</name>
    <message>
        <source>Stopping…</source>
        <translation>停止中…</translation>
    </message>
    <message numerus="yes">
        <source>Waiting for %Ln other reply(ies)…</source>
        <translation>
            <numerusform>ほかの回答 %Ln 件を待っています…</numerusform>
        </translation>
    </message>
    <message>
        <source>Reading the chat…</source>
        <translation>チャットを読んでいます…</translation>
    </message>
    <message>
        <source>Reading the chat… %1</source>
        <translation>チャットを読んでいます… %1</translation>
    </message>
</context>
<context>
    <name>ProjectFiles</name>
    <message>
        <source>read whole in every chat</source>
        <translation>すべてのチャットで全体を読む</translation>
    </message>
    <message>
        <source>searched when needed</source>
        <translation>必要なときに検索</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>待機中</translation>
    </message>
    <message>
        <source>being read</source>
        <translation>読み込み中</translation>
    </message>
    <message>
        <source>not found where it was</source>
        <translation>元の場所に見つかりません</translation>
    </message>
    <message>
        <source>too large to read</source>
        <translation>大きすぎて読めません</translation>
    </message>
</context>
<context>
    <name>ProjectFilesCard</name>
    <message>
        <source>Files</source>
        <translation>ファイル</translation>
    </message>
    <message>
        <source>Add Files…</source>
        <translation>ファイルを追加…</translation>
    </message>
    <message>
        <source>Drop files here. Small ones are read whole, the others are searched.</source>
        <translation>ここにファイルをドロップしてください。小さなファイルは全体を読み、ほかは検索します。</translation>
    </message>
    <message numerus="yes">
        <source>And %Ln more file(s)</source>
        <translation>
            <numerusform>ほかに %Ln ファイル</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectForm</name>
    <message>
        <source>Project</source>
        <translation>プロジェクト</translation>
    </message>
    <message>
        <source>All chats in a project begin with its instructions and files, its models and settings.</source>
        <translation>プロジェクトのチャットはすべて、その指示とファイル、モデル、設定で始まります。</translation>
    </message>
    <message>
        <source>New Chat in This Project</source>
        <translation>このプロジェクトに新規チャット</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名前</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>指示</translation>
    </message>
    <message>
        <source>What the model should know and do in every chat here</source>
        <translation>ここのすべてのチャットでモデルに知っておいてほしいこと、してほしいこと</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s), read once for all chats</source>
        <translation>
            <numerusform>%Ln トークン。すべてのチャットで一度だけ読み込みます</numerusform>
        </translation>
    </message>
    <message>
        <source>As chosen at the time</source>
        <translation>そのとき選ばれているモデル</translation>
    </message>
    <message>
        <source>%1 (not installed)</source>
        <translation>%1（未インストール）</translation>
    </message>
    <message>
        <source>Models for new chats</source>
        <translation>新しいチャットのモデル</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 を使う</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>チャットの設定</translation>
    </message>
</context>
<context>
    <name>ProjectLine</name>
    <message>
        <source>instructions</source>
        <translation>指示</translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>ファイル %Ln 件</numerusform>
        </translation>
    </message>
    <message>
        <source>settings</source>
        <translation>設定</translation>
    </message>
    <message>
        <source>Project: %1</source>
        <translation>プロジェクト：%1</translation>
    </message>
</context>
<context>
    <name>ProjectPage</name>
    <message>
        <source>Add Files to the Project</source>
        <translation>プロジェクトにファイルを追加</translation>
    </message>
    <message>
        <source>“%1” was removed from the project.</source>
        <translation>「%1」をプロジェクトから取り除きました。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s) left out: a project holds 5,000 files and 2 GB.</source>
        <translation>
            <numerusform>%Ln ファイルを除きました。プロジェクトに入るのは 5,000 ファイル、2 GB までです。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PromptDialog</name>
    <message>
        <source>Name</source>
        <translation>名前</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>テキスト</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>プロンプト</translation>
    </message>
    <message>
        <source>Example: Translate</source>
        <translation>例：翻訳</translation>
    </message>
    <message>
        <source>Example: Translate into English, and keep the tone:</source>
        <translation>例：口調を保って日本語に訳してください：</translation>
    </message>
    <message>
        <source>New Prompt</source>
        <translation>新規プロンプト</translation>
    </message>
    <message>
        <source>Edit Prompts</source>
        <translation>プロンプトを編集</translation>
    </message>
    <message>
        <source>Type / in a message to use it.</source>
        <translation>メッセージで / を入力すると使えます。</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Deleted the prompt “%1”.</source>
        <translation>プロンプト「%1」を削除しました。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
</context>
<context>
    <name>PromptField</name>
    <message>
        <source>Cut to %1 characters.</source>
        <translation>%1 文字までにしました。</translation>
    </message>
</context>
<context>
    <name>PromptList</name>
    <message>
        <source>Preset</source>
        <translation>プリセット</translation>
    </message>
    <message>
        <source>New Prompt…</source>
        <translation>新規プロンプト…</translation>
    </message>
    <message>
        <source>Edit Prompts…</source>
        <translation>プロンプトを編集…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>プロンプト</translation>
    </message>
</context>
<context>
    <name>QCocoaMenuItem</name>
    <message>
        <source>Cut</source>
        <translation>カット</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>ペースト</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>すべてを選択</translation>
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
        <translation>送信</translation>
    </message>
    <message>
        <source>Quick Ask</source>
        <translation>クイック質問</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>質問</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Saved as a chat.</source>
        <translation>チャットとして保存されます。</translation>
    </message>
    <message>
        <source>Open in Hunch</source>
        <translation>Hunch で開く</translation>
    </message>
</context>
<context>
    <name>Race</name>
    <message>
        <source>Same prompt and seed, with and without the draft.</source>
        <translation>同じプロンプトとシードで、ドラフトなしとありの 2 回回答します。</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>測定中…</translation>
    </message>
    <message>
        <source>The race could not run</source>
        <translation>レースを実行できません</translation>
    </message>
    <message>
        <source>Not measured</source>
        <translation>測定できません</translation>
    </message>
    <message>
        <source>Too short to measure</source>
        <translation>短すぎて測定できません</translation>
    </message>
    <message>
        <source>Nothing was drafted</source>
        <translation>予測されたトークンがありません</translation>
    </message>
    <message>
        <source>Continues after the current reply.</source>
        <translation>現在の回答の後に続けます。</translation>
    </message>
    <message>
        <source>Race stopped.</source>
        <translation>レースを停止しました。</translation>
    </message>
    <message>
        <source>The laps differ, so it takes longer.</source>
        <translation>測定ごとの差が大きいため、時間がかかります。</translation>
    </message>
    <message>
        <source>Both ways in turns, until the figure is certain.</source>
        <translation>数値が確かになるまで、両方を交互に実行します。</translation>
    </message>
    <message>
        <source>Try a prompt with a longer reply.</source>
        <translation>もっと長い回答になるプロンプトで試してください。</translation>
    </message>
    <message>
        <source>The laps differed too much. Race again when this Mac is idle.</source>
        <translation>測定ごとの差が大きすぎました。この Mac が空いているときにもう一度レースをしてください。</translation>
    </message>
    <message>
        <source>This Mac was busy at times; only its quiet laps count.</source>
        <translation>この Mac はときどき処理中だったため、空いているときの結果だけを使っています。</translation>
    </message>
    <message>
        <source>So Auto drafts nothing here.</source>
        <translation>そのため、自動ではドラフトを使いません。</translation>
    </message>
    <message>
        <source>The texts differ from token %1 on, by rounding.</source>
        <translation>%1 番目のトークンから、丸め誤差でテキストが異なります。</translation>
    </message>
    <message>
        <source>The texts differ from token %1 on, by “Fastest drafting”.</source>
        <translation>%1 番目のトークンから、「ドラフトの速度を優先」によりテキストが異なります。</translation>
    </message>
</context>
<context>
    <name>RaceBars</name>
    <message>
        <source>Without the draft</source>
        <translation>ドラフトなし</translation>
    </message>
    <message>
        <source>With the draft</source>
        <translation>ドラフトあり</translation>
    </message>
    <message>
        <source>%1 s · %2 tok/s</source>
        <translation>%1 秒 · 毎秒 %2 トークン</translation>
    </message>
</context>
<context>
    <name>RaceWindow</name>
    <message>
        <source>Load a pair first.</source>
        <translation>先にペアを読み込んでください。</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Race again</source>
        <translation>もう一度レース</translation>
    </message>
    <message>
        <source>Race</source>
        <translation>レース</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>As in this chat</source>
        <translation>このチャットと同じ</translation>
    </message>
    <message>
        <source>Greedy</source>
        <translation>最有力のみ</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>サンプリング</translation>
    </message>
    <message>
        <source>Always the likeliest token.</source>
        <translation>常に最も確率の高いトークンを選びます。</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>回答</translation>
    </message>
</context>
<context>
    <name>ReadingDialog</name>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>Recommended</name>
    <message>
        <source>Recommended for this Mac</source>
        <translation>この Mac へのおすすめ</translation>
    </message>
</context>
<context>
    <name>RemovedCard</name>
    <message>
        <source>%1 was removed.</source>
        <translation>%1 を取り除きました。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
</context>
<context>
    <name>ReplyEnds</name>
    <message>
        <source>Reply waits for you.</source>
        <translation>回答が許可を待っています。</translation>
    </message>
    <message>
        <source>Reply failed.</source>
        <translation>回答に失敗しました。</translation>
    </message>
    <message>
        <source>Reply finished.</source>
        <translation>回答が終わりました。</translation>
    </message>
    <message>
        <source>Reply ended early.</source>
        <translation>回答が途中で終わりました。</translation>
    </message>
    <message>
        <source>Reply waits for you in another chat.</source>
        <translation>別のチャットの回答が許可を待っています。</translation>
    </message>
    <message>
        <source>Reply failed in another chat.</source>
        <translation>別のチャットの回答に失敗しました。</translation>
    </message>
    <message>
        <source>Reply finished in another chat.</source>
        <translation>別のチャットの回答が終わりました。</translation>
    </message>
    <message>
        <source>Reply ended early in another chat.</source>
        <translation>別のチャットの回答が途中で終わりました。</translation>
    </message>
</context>
<context>
    <name>ReplyStats</name>
    <message>
        <source>stopped before the first word</source>
        <translation>最初の語が出る前に停止</translation>
    </message>
    <message>
        <source>this Mac is hot</source>
        <translation>この Mac は高温です</translation>
    </message>
    <message>
        <source>this Mac saves energy</source>
        <translation>低電力モード</translation>
    </message>
    <message>
        <source>no drafting on battery</source>
        <translation>バッテリー駆動中のためドラフトなし</translation>
    </message>
    <message>
        <source>no draft used: no gain here</source>
        <translation>ドラフトなし：ここでは効果なし</translation>
    </message>
    <message>
        <source>as fast as without</source>
        <translation>ドラフトなしと同じ速さ</translation>
    </message>
    <message>
        <source>%1× faster</source>
        <translation>%1 倍の速さ</translation>
    </message>
    <message>
        <source>about %1× faster</source>
        <translation>約 %1 倍の速さ</translation>
    </message>
    <message>
        <source>waits for you</source>
        <translation>許可を待っています</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>%1 slower</source>
        <translation>%1 遅い</translation>
    </message>
    <message>
        <source>about %1 slower</source>
        <translation>約 %1 遅い</translation>
    </message>
    <message>
        <source>Without a draft: about %1 tok/s, measured while idle. Between %2× and %3×.</source>
        <translation>ドラフトなしでは毎秒約 %1 トークン（待機中に測定）。%2〜%3 倍の範囲です。</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>このペアではオフにする</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>毎秒 %1 トークン</translation>
    </message>
    <message>
        <source>%1 accepted</source>
        <translation>受理率 %1</translation>
    </message>
    <message>
        <source>%1 tok/pass</source>
        <translation>パスあたり %1 トークン</translation>
    </message>
    <message>
        <source>%1 tok/pass (break-even: %2)</source>
        <translation>パスあたり %1 トークン（速くなる目安：%2）</translation>
    </message>
    <message>
        <source>The next reply measures more.</source>
        <translation>次の回答でさらに測定します。</translation>
    </message>
    <message>
        <source>Answered together, so little was drafted.</source>
        <translation>同時に回答したため、ドラフトはほとんど使われませんでした。</translation>
    </message>
    <message>
        <source>Paused: drafting would be about %1 slower.</source>
        <translation>休止中：ドラフトを使うと約 %1 遅くなります。</translation>
    </message>
    <message>
        <source>Guesses come from this chat&apos;s text.</source>
        <translation>このチャットの文章から予測しました。</translation>
    </message>
</context>
<context>
    <name>ReportDialog</name>
    <message>
        <source>Diagnostics</source>
        <translation>診断情報</translation>
    </message>
    <message>
        <source>Hunch sends nothing. Copy it into your report.</source>
        <translation>Hunch は何も送信しません。コピーして報告にペーストしてください。</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
</context>
<context>
    <name>Requests</name>
    <message>
        <source>Waiting</source>
        <translation>待機中</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>読み取り中</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>作成中</translation>
    </message>
    <message>
        <source>Using a tool</source>
        <translation>ツールを使用中</translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation>許可待ち</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>停止中…</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>中断</translation>
    </message>
    <message>
        <source>Length limit</source>
        <translation>長さの上限</translation>
    </message>
    <message>
        <source>Context full</source>
        <translation>コンテキスト満杯</translation>
    </message>
    <message>
        <source>Memory full</source>
        <translation>メモリ満杯</translation>
    </message>
    <message>
        <source>Model changed</source>
        <translation>モデル変更</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>失敗</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完了</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>チャット</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状態</translation>
    </message>
    <message>
        <source>Accept rate</source>
        <translation>受理率</translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <translation>トークン / パス</translation>
    </message>
    <message>
        <source>By position</source>
        <translation>位置別</translation>
    </message>
    <message>
        <source>Over the reply</source>
        <translation>回答中の推移</translation>
    </message>
    <message>
        <source>Draft time</source>
        <translation>ドラフト時間</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>トークン / 秒</translation>
    </message>
    <message>
        <source>answered together</source>
        <translation>同時に回答</translation>
    </message>
    <message>
        <source>no gain here</source>
        <translation>効果なし</translation>
    </message>
    <message>
        <source>drafting off</source>
        <translation>ドラフトはオフ</translation>
    </message>
    <message>
        <source>no draft</source>
        <translation>ドラフトなし</translation>
    </message>
    <message>
        <source>not supported</source>
        <translation>非対応</translation>
    </message>
    <message>
        <source>draft failed</source>
        <translation>ドラフトでエラー</translation>
    </message>
    <message>
        <source>from this chat</source>
        <translation>チャットの文から</translation>
    </message>
    <message>
        <source>draft model</source>
        <translation>ドラフトモデル</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>休止中</translation>
    </message>
    <message>
        <source>for your chat</source>
        <translation>チャットを優先</translation>
    </message>
    <message>
        <source>Another program</source>
        <translation>ほかのプログラム</translation>
    </message>
    <message>
        <source>Deleted chat</source>
        <translation>削除されたチャット</translation>
    </message>
    <message>
        <source>Show more (%1 older)</source>
        <translation>さらに表示（ほか %1 件）</translation>
    </message>
    <message>
        <source>Speed-up</source>
        <translation>速度比</translation>
    </message>
</context>
<context>
    <name>RunSheet</name>
    <message>
        <source>What runs</source>
        <translation>実行されるもの</translation>
    </message>
    <message>
        <source>It gets the values of %1.</source>
        <translation>%1 の値が渡されます。</translation>
    </message>
    <message>
        <source>Connect to %1?</source>
        <translation>%1に接続しますか？</translation>
    </message>
    <message>
        <source>What a model gives to its tools is sent to this address.</source>
        <translation>モデルがツールに渡す内容は、この URL に送信されます。</translation>
    </message>
    <message>
        <source>Run %1?</source>
        <translation>%1を実行しますか？</translation>
    </message>
    <message>
        <source>This command runs as you and can do all that you can. What it touches, macOS counts as Hunch&apos;s.</source>
        <translation>このコマンドはあなたの権限で実行され、あなたにできることはすべてできます。アクセスしたものは、macOS では Hunch によるものとして扱われます。</translation>
    </message>
    <message>
        <source>Turn On</source>
        <translation>オンにする</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
</context>
<context>
    <name>SamplingPage</name>
    <message>
        <source>Example: Answer briefly, in Korean.</source>
        <translation>例：日本語で簡潔に答えてください。</translation>
    </message>
    <message>
        <source>Restore defaults</source>
        <translation>既定値に戻す</translation>
    </message>
    <message>
        <source>1 is off; higher avoids repeats.</source>
        <translation>1 でオフ。高いほど繰り返しを避けます。</translation>
    </message>
    <message>
        <source>For models that see. Lower is faster.</source>
        <translation>画像を見られるモデルで有効です。低いほど速くなります。</translation>
    </message>
    <message>
        <source>Text still varies while “Fastest drafting” is on.</source>
        <translation>「ドラフトの速度を優先」がオンのときは、同じシードでもテキストが変わることがあります。</translation>
    </message>
    <message>
        <source>Same seed, same reply with any draft.</source>
        <translation>同じシードなら、どのドラフトでも同じ回答です。</translation>
    </message>
    <message>
        <source>Now %1, this chat&apos;s.</source>
        <translation>現在はこのチャットの値（%1）です。</translation>
    </message>
    <message>
        <source>Now %1, this preset&apos;s.</source>
        <translation>現在はこのプリセットの値（%1）です。</translation>
    </message>
    <message>
        <source>Now %1, this model&apos;s.</source>
        <translation>現在はこのモデルの値（%1）です。</translation>
    </message>
    <message>
        <source>Now %1, this project&apos;s.</source>
        <translation>現在はこのプロジェクトの値（%1）です。</translation>
    </message>
    <message>
        <source>Starts every chat.</source>
        <translation>すべてのチャットの最初に送ります。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
    <message>
        <source>0 is predictable; higher is freer.</source>
        <translation>0 ではほぼ同じ答え、高いほど多様になります。</translation>
    </message>
    <message>
        <source>Limits choices to this total probability.</source>
        <translation>確率の合計がこの値に達するまでの語から選びます。</translation>
    </message>
    <message>
        <source>Skips words below this share of the likeliest.</source>
        <translation>最も確からしい語に対し、確率がこの割合に満たない語を除きます。</translation>
    </message>
    <message>
        <source>Limits choices to this many; 0 is off.</source>
        <translation>この数の語から選びます。0 でオフ。</translation>
    </message>
    <message>
        <source>Faster, but seeds no longer fix the text.</source>
        <translation>より高速ですが、シードでテキストは固定されなくなります。</translation>
    </message>
    <message>
        <source>In tokens.</source>
        <translation>トークン数です。</translation>
    </message>
    <message>
        <source>In tokens. Less saves memory.</source>
        <translation>トークン数。少ないほどメモリを節約します。</translation>
    </message>
    <message>
        <source>What happens to messages that no longer fit.</source>
        <translation>入りきらなくなったメッセージの扱いです。</translation>
    </message>
    <message>
        <source>For models that can think.</source>
        <translation>思考できるモデルで有効です。</translation>
    </message>
    <message>
        <source>Half holds almost twice the context; replies may differ slightly.</source>
        <translation>「半分」ではほぼ 2 倍のコンテキストが収まり、回答が少し変わることがあります。</translation>
    </message>
    <message>
        <source>Same seed, same reply, except where two words are nearly tied.</source>
        <translation>同じシードなら同じ回答です。2 つの語がほぼ互角のときは例外です。</translation>
    </message>
</context>
<context>
    <name>SchemaField</name>
    <message>
        <source>Too long: at most %1 characters.</source>
        <translation>長すぎます。最大 %1 文字です。</translation>
    </message>
    <message>
        <source>Not JSON: look at line %1.</source>
        <translation>JSON ではありません。%1 行目を確認してください。</translation>
    </message>
    <message>
        <source>Not JSON: look at line %1. The last schema that worked stays.</source>
        <translation>JSON ではありません。%1 行目を確認してください。最後に有効だったスキーマを使います。</translation>
    </message>
    <message>
        <source>A JSON schema is an object, in braces. The last schema that worked stays.</source>
        <translation>JSON スキーマは波かっこのオブジェクトです。最後に有効だったスキーマを使います。</translation>
    </message>
    <message>
        <source>Replies cannot be held to this: %1</source>
        <translation>回答をこのスキーマに合わせられません：%1</translation>
    </message>
    <message>
        <source>Free text</source>
        <translation>自由な文章</translation>
    </message>
    <message>
        <source>List</source>
        <translation>リスト</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表</translation>
    </message>
    <message>
        <source>Keys and values</source>
        <translation>キーと値</translation>
    </message>
    <message>
        <source>JSON schema</source>
        <translation>JSON スキーマ</translation>
    </message>
    <message>
        <source>Columns: name, year, price</source>
        <translation>列：名前、年、価格</translation>
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
        <translation>消去</translation>
    </message>
</context>
<context>
    <name>Server</name>
    <message>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>起動中…</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>終了中…</translation>
    </message>
    <message>
        <source>Running at %1</source>
        <translation>%1 で実行中</translation>
    </message>
    <message>
        <source>The key cannot be read. Unlock the keychain and start Hunch again, or make a new key.</source>
        <translation>キーを読み取れません。キーチェーンのロックを解除して Hunch を起動し直すか、新しいキーを作成してください。</translation>
    </message>
    <message>
        <source>Port %1 is taken by another program.</source>
        <translation>ポート %1 はほかのプログラムが使用しています。</translation>
    </message>
    <message>
        <source>The system does not allow port %1.</source>
        <translation>ポート %1 はシステムで許可されていません。</translation>
    </message>
    <message>
        <source>The server could not start. The log says why.</source>
        <translation>サーバを起動できませんでした。理由はログにあります。</translation>
    </message>
</context>
<context>
    <name>ServerCard</name>
    <message numerus="yes">
        <source>%Ln tool(s)</source>
        <translation>
            <numerusform>ツール %Ln 個</numerusform>
        </translation>
    </message>
    <message>
        <source>What it offers</source>
        <translation>提供するツール</translation>
    </message>
    <message>
        <source>What it wrote last (stderr)</source>
        <translation>最後の出力（stderr）</translation>
    </message>
    <message>
        <source>Get %1…</source>
        <translation>%1 の入手方法…</translation>
    </message>
    <message>
        <source>Restart</source>
        <translation>再起動</translation>
    </message>
    <message>
        <source>Restart %1</source>
        <translation>%1 を再起動</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>取り除く</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 を取り除く</translation>
    </message>
    <message>
        <source>Sign In…</source>
        <translation>サインイン…</translation>
    </message>
    <message>
        <source>Cancel Sign-In</source>
        <translation>サインインをキャンセル</translation>
    </message>
    <message>
        <source>Sign Out</source>
        <translation>サインアウト</translation>
    </message>
    <message>
        <source>Set.</source>
        <translation>設定済みです。</translation>
    </message>
    <message>
        <source>Not set.</source>
        <translation>未設定です。</translation>
    </message>
</context>
<context>
    <name>ServerMenu</name>
    <message>
        <source>Use another port</source>
        <translation>別のポートを使う</translation>
    </message>
    <message>
        <source>Server Settings…</source>
        <translation>サーバの設定…</translation>
    </message>
    <message>
        <source>The server is not running</source>
        <translation>サーバは動いていません</translation>
    </message>
    <message>
        <source>Turn Server Off</source>
        <translation>サーバをオフにする</translation>
    </message>
    <message>
        <source>Turn Server On</source>
        <translation>サーバをオンにする</translation>
    </message>
</context>
<context>
    <name>ServerPage</name>
    <message>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln 分</numerusform>
        </translation>
    </message>
    <message>
        <source>Server for other programs</source>
        <translation>ほかのプログラム用のサーバ</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 を使う</translation>
    </message>
    <message>
        <source>Another port</source>
        <translation>別のポート</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>アドレス</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>キー</translation>
    </message>
    <message>
        <source>Programs without it are refused.</source>
        <translation>キーのないプログラムは拒否されます。</translation>
    </message>
    <message>
        <source>No key. Any program on this Mac can connect.</source>
        <translation>キーなし。この Mac のどのプログラムからも接続できます。</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>表示</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>隠す</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>接続</translation>
    </message>
    <message>
        <source>Access</source>
        <translation>アクセス</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>ポート</translation>
    </message>
    <message>
        <source>New key</source>
        <translation>新しいキー</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Other machines in this network</source>
        <translation>同じネットワークのほかの機器</translation>
    </message>
    <message>
        <source>They need the key. Not encrypted: others can read along.</source>
        <translation>キーが必要です。暗号化されないため、同じネットワークのほかの人に内容を読まれる可能性があります。</translation>
    </message>
    <message>
        <source>Answer to any model name</source>
        <translation>どのモデル名にも応答</translation>
    </message>
    <message>
        <source>Unknown ones mean the model that you chose.</source>
        <translation>不明な名前には、選んだモデルが応答します。</translation>
    </message>
    <message>
        <source>Load other models for programs</source>
        <translation>プログラム用にほかのモデルも読み込む</translation>
    </message>
    <message>
        <source>Only while you are not chatting. Unloads after this long.</source>
        <translation>チャットしていない間だけ読み込みます。この時間使われなければメモリから外します。</translation>
    </message>
    <message>
        <source>Programs never see chats, files or settings. Your messages come first.</source>
        <translation>プログラムがチャット、ファイル、設定を見ることはありません。自分のメッセージが優先されます。</translation>
    </message>
</context>
<context>
    <name>SettingsWindow</name>
    <message>
        <source>Settings</source>
        <translation>設定</translation>
    </message>
    <message>
        <source>General</source>
        <translation>一般</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Installed, downloads, folders, deleting.</source>
        <translation>インストール済みのモデル、ダウンロード、モデルのあるフォルダ、削除。</translation>
    </message>
    <message>
        <source>Recommended models and search.</source>
        <translation>おすすめのモデルと検索。</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>アクティビティ</translation>
    </message>
    <message>
        <source>Speed-up, accept rate, tokens per second, statistics.</source>
        <translation>回答ごとの速度、受理率、毎秒トークン数。統計。</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>モデルを探す</translation>
    </message>
    <message>
        <source>Requests and totals</source>
        <translation>リクエストと合計</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>チャット</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外観モード</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>ツール</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>サーバ</translation>
    </message>
    <message>
        <source>Other Macs</source>
        <translation>ほかの Mac</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>詳細</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>検索</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>設定を検索</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>見つかりませんでした。</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>ページ</translation>
    </message>
</context>
<context>
    <name>Shortcuts</name>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>キーボードショートカット</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>In a chat</source>
        <translation>チャットで</translation>
    </message>
    <message>
        <source>New line</source>
        <translation>改行</translation>
    </message>
    <message>
        <source>Use a prompt or preset</source>
        <translation>プロンプトやプリセットを使う</translation>
    </message>
    <message>
        <source>Stop reply or cancel editing</source>
        <translation>回答の停止、または編集のキャンセル</translation>
    </message>
    <message>
        <source>Previous message</source>
        <translation>前のメッセージ</translation>
    </message>
    <message>
        <source>Next message</source>
        <translation>次のメッセージ</translation>
    </message>
    <message>
        <source>Select text</source>
        <translation>テキストを選択</translation>
    </message>
    <message>
        <source>On the focused message</source>
        <translation>フォーカスのあるメッセージで</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>編集</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>削除</translation>
    </message>
    <message>
        <source>Previous or next version</source>
        <translation>前または次のバージョン</translation>
    </message>
    <message>
        <source>Show or hide thinking</source>
        <translation>思考を表示または隠す</translation>
    </message>
    <message>
        <source>Open or close folder</source>
        <translation>フォルダを開閉</translation>
    </message>
    <message>
        <source>Open menu</source>
        <translation>メニューを開く</translation>
    </message>
    <message>
        <source>In the chat list</source>
        <translation>チャットのリストで</translation>
    </message>
    <message>
        <source>Open chat or folder</source>
        <translation>チャットまたはフォルダを開く</translation>
    </message>
    <message>
        <source>Select several chats</source>
        <translation>複数のチャットを選択</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>名前を変更</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Unpin Chat</source>
        <translation>チャットのピン留めを解除</translation>
    </message>
    <message>
        <source>Pin Chat</source>
        <translation>チャットをピン留め</translation>
    </message>
    <message>
        <source>Delete Chat</source>
        <translation>チャットを削除</translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>%Ln 件のチャットを削除</numerusform>
        </translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>新規チャット</translation>
    </message>
    <message>
        <source>Hide sidebar</source>
        <translation>サイドバーを隠す</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>検索</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>チャットを検索</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>見つかりませんでした。</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>検索中…</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>モデル</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>設定</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>チャット</translation>
    </message>
</context>
<context>
    <name>SpeculationActions</name>
    <message>
        <source>Draft length is now fixed.</source>
        <translation>予測の長さを固定しました。</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>取り消す</translation>
    </message>
    <message>
        <source>Drafting is off for this pair. Auto turns it on.</source>
        <translation>このペアではドラフトがオフです。「自動」を選ぶとオンになります。</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>レース…</translation>
    </message>
</context>
<context>
    <name>SpeculationCard</name>
    <message>
        <source>Use a draft</source>
        <translation>ドラフトを使う</translation>
    </message>
    <message>
        <source>Tokens to draft</source>
        <translation>ドラフトのトークン数</translation>
    </message>
    <message>
        <source>Turn on</source>
        <translation>オンにする</translation>
    </message>
    <message>
        <source>Draft on battery</source>
        <translation>バッテリー駆動時もドラフトを使う</translation>
    </message>
    <message>
        <source>Off pauses it in chats until power is back.</source>
        <translation>オフにすると、電源につなぐまでチャットでドラフトを使いません。</translation>
    </message>
    <message>
        <source>Drafters at 4 bits</source>
        <translation>専用ドラフトモデルを 4 ビットで使う</translation>
    </message>
    <message>
        <source>Faster, a third of the memory, nearly as many guesses right. Needs a restart.</source>
        <translation>より高速で、メモリは 3 分の 1、予測の当たりはほぼ同じです。再起動が必要です。</translation>
    </message>
    <message>
        <source>Off for this pair</source>
        <translation>このペアではオフ</translation>
    </message>
    <message>
        <source>You turned it off: drafting was slower.</source>
        <translation>ドラフトで遅くなったため、オフにしました。</translation>
    </message>
</context>
<context>
    <name>SpeculationControls</name>
    <message>
        <source>Main model only.</source>
        <translation>メインモデルだけを使います。</translation>
    </message>
    <message>
        <source>Pauses while that is slower.</source>
        <translation>遅くなる間は休止します。</translation>
    </message>
    <message>
        <source>This chat only.</source>
        <translation>このチャットのみ。</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>Fixed</source>
        <translation>固定</translation>
    </message>
    <message>
        <source>Drafts only while that is faster.</source>
        <translation>速くなる間だけドラフトを使います。</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>自動</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>ドラフト</translation>
    </message>
    <message>
        <source>Tokens to draft</source>
        <translation>ドラフトのトークン数</translation>
    </message>
</context>
<context>
    <name>StationCard</name>
    <message>
        <source>No other Mac</source>
        <translation>ほかの Mac なし</translation>
    </message>
    <message>
        <source>Drafts for this Mac</source>
        <translation>この Mac のドラフトを担当</translation>
    </message>
    <message>
        <source>A paired Mac can run the draft too, and prepare the next one meanwhile. Same text.</source>
        <translation>ペアリングした Mac でもドラフトモデルを動かし、次のドラフトを先に準備できます。文章は変わりません。</translation>
    </message>
    <message>
        <source>Copying the draft to %1: %2</source>
        <translation>ドラフトモデルを %1 へコピー中：%2</translation>
    </message>
    <message>
        <source>%1 runs part of the model, so this Mac drafts.</source>
        <translation>%1 はモデルの一部を実行しているため、ドラフトはこの Mac が行います。</translation>
    </message>
</context>
<context>
    <name>TemplateDialog</name>
    <message>
        <source>Chat template of %1</source>
        <translation>%1 のチャットテンプレート</translation>
    </message>
    <message>
        <source>How chats are formatted for the model.</source>
        <translation>チャットをモデル向けに整える形式です。</translation>
    </message>
    <message>
        <source>No readable chat template found.</source>
        <translation>読み取れるチャットテンプレートがありません。</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
</context>
<context>
    <name>ThinkingField</name>
    <message>
        <source>Up to a limit</source>
        <translation>上限を決める</translation>
    </message>
    <message>
        <source>Tokens of thinking</source>
        <translation>思考のトークン数</translation>
    </message>
</context>
<context>
    <name>ToolLine</name>
    <message>
        <source>All of %1</source>
        <translation>%1 のすべて</translation>
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
        <translation>失敗</translation>
    </message>
    <message>
        <source>running…</source>
        <translation>実行中…</translation>
    </message>
    <message>
        <source>declined</source>
        <translation>許可されませんでした</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>停止しました</translation>
    </message>
    <message>
        <source>not known whether it ran</source>
        <translation>実行されたか不明</translation>
    </message>
    <message>
        <source>Calculated %1</source>
        <translation>%1 を計算しました</translation>
    </message>
    <message>
        <source>Calculate %1</source>
        <translation>%1 を計算</translation>
    </message>
    <message>
        <source>Looked up the date and time</source>
        <translation>日付と時刻を調べました</translation>
    </message>
    <message>
        <source>Look up the date and time</source>
        <translation>日付と時刻を調べる</translation>
    </message>
    <message>
        <source>Searched your chats for %1</source>
        <translation>チャットで %1 を検索しました</translation>
    </message>
    <message>
        <source>Search your chats for %1</source>
        <translation>チャットで %1 を検索</translation>
    </message>
    <message>
        <source>Searched the documents for %1</source>
        <translation>ドキュメントで %1 を検索しました</translation>
    </message>
    <message>
        <source>Search the documents for %1</source>
        <translation>ドキュメントで %1 を検索</translation>
    </message>
    <message>
        <source>Read %1</source>
        <translation>%1 を読みました</translation>
    </message>
    <message>
        <source>Read %1</source>
        <comment>to do</comment>
        <translation>%1 を読む</translation>
    </message>
    <message>
        <source>Listed %1</source>
        <translation>%1 の一覧を取得しました</translation>
    </message>
    <message>
        <source>List %1</source>
        <translation>%1 の一覧を取得</translation>
    </message>
    <message>
        <source>Loaded %1</source>
        <translation>%1 を読み込みました</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>%1 を読み込む</translation>
    </message>
    <message>
        <source>what you chose</source>
        <translation>選んだ項目</translation>
    </message>
    <message>
        <source>Go on?</source>
        <translation>続けますか？</translation>
    </message>
    <message>
        <source>%1?</source>
        <translation>%1：許可しますか？</translation>
    </message>
    <message>
        <source>Allow %1 to use %2?</source>
        <translation>%1 による %2 の使用を許可しますか？</translation>
    </message>
    <message>
        <source>This tool has changed since you allowed it. Both descriptions are below.</source>
        <translation>許可したあとで、このツールは変わりました。両方の説明を下に示します。</translation>
    </message>
    <message>
        <source>You allowed this, but the chat has read content from outside, which may have asked for it.</source>
        <translation>許可済みのツールですが、このチャットは外部の内容を読み込んでいます。その内容が指示した可能性があります。</translation>
    </message>
    <message>
        <source>An equal call was sent before Hunch ended, and may have run already.</source>
        <translation>同じ呼び出しが Hunch の終了前に送信されており、すでに実行された可能性があります。</translation>
    </message>
    <message>
        <source>Many calls have run without a question. Is this still what you want?</source>
        <translation>確認なしの呼び出しが続きました。このまま続けますか？</translation>
    </message>
    <message>
        <source>This reply has taken many steps.</source>
        <translation>この回答はすでに多くの手順を重ねています。</translation>
    </message>
    <message>
        <source>When you allowed it</source>
        <translation>許可したとき</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>現在</translation>
    </message>
    <message>
        <source>No arguments</source>
        <translation>引数なし</translation>
    </message>
    <message>
        <source>Reads this file, and nothing else.</source>
        <translation>このファイルだけを読みます。</translation>
    </message>
    <message>
        <source>Reads the names of what is in this folder.</source>
        <translation>このフォルダにある項目の名前を読みます。</translation>
    </message>
    <message>
        <source>Loads this page. Its server sees your IP address.</source>
        <translation>このページを読み込みます。相手のサーバには、あなたの IP アドレスが伝わります。</translation>
    </message>
    <message>
        <source>Searches your chats and their attachments.</source>
        <translation>チャットと添付ファイルを検索します。</translation>
    </message>
    <message>
        <source>Only reads, says its server. Hunch cannot check that.</source>
        <translation>サーバによると、読むだけです。Hunch では確認できません。</translation>
    </message>
    <message>
        <source>It may change or send something.</source>
        <translation>何かを変更または送信する可能性があります。</translation>
    </message>
    <message>
        <source>Answer now</source>
        <translation>すぐに回答</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>続ける</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <translation>許可しない</translation>
    </message>
    <message>
        <source>Allow once</source>
        <translation>一度だけ許可</translation>
    </message>
    <message>
        <source>In this chat</source>
        <translation>このチャットで許可</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>常に許可</translation>
    </message>
    <message>
        <source>%1 is not called, and the model is told so</source>
        <translation>%1 は呼び出されず、モデルにその旨が伝わります</translation>
    </message>
    <message>
        <source>Allow %1 once, with these arguments</source>
        <translation>%1 をこの引数で一度だけ許可します</translation>
    </message>
    <message>
        <source>Allow %1 in this chat, with any arguments</source>
        <translation>このチャットでは、引数にかかわらず %1 を許可します</translation>
    </message>
    <message>
        <source>Allow %1 in every chat, with any arguments</source>
        <translation>すべてのチャットで、引数にかかわらず %1 を許可します</translation>
    </message>
    <message>
        <source>Allow %1 in this chat, for addresses on this server</source>
        <translation>このチャットで、このサーバの URL に %1 を許可します</translation>
    </message>
    <message>
        <source>Allow %1 in every chat, for addresses on this server</source>
        <translation>すべてのチャットで、このサーバの URL に %1 を許可します</translation>
    </message>
    <message>
        <source>Built in</source>
        <translation>内蔵</translation>
    </message>
    <message>
        <source>Calculator</source>
        <translation>計算機</translation>
    </message>
    <message>
        <source>Arithmetic, exactly. Never asks.</source>
        <translation>正確に計算します。確認なしで実行。</translation>
    </message>
    <message>
        <source>Date and time</source>
        <translation>日付と時刻</translation>
    </message>
    <message>
        <source>What day and time it is, here and elsewhere. Never asks.</source>
        <translation>現在地やほかの地域の日付と時刻を調べます。確認なしで実行。</translation>
    </message>
    <message>
        <source>Search in chats</source>
        <translation>チャットを検索</translation>
    </message>
    <message>
        <source>Finds words in your chats and their attachments.</source>
        <translation>チャットと添付ファイルから言葉を探します。</translation>
    </message>
    <message>
        <source>Read files</source>
        <translation>ファイルを読む</translation>
    </message>
    <message>
        <source>Only those that you choose for a chat.</source>
        <translation>チャットごとに選んだものだけです。</translation>
    </message>
    <message>
        <source>List folders</source>
        <translation>フォルダの一覧</translation>
    </message>
    <message>
        <source>Search documents</source>
        <translation>ドキュメントを検索</translation>
    </message>
    <message>
        <source>Finds passages in those of the chat and its project. Never asks.</source>
        <translation>チャットとプロジェクトのドキュメントから該当箇所を探します。確認なしで実行。</translation>
    </message>
    <message>
        <source>Only documents, and those that you choose for a chat.</source>
        <translation>ドキュメントと、チャットで選んだファイルだけです。</translation>
    </message>
    <message>
        <source>Load a web page</source>
        <translation>Web ページを読み込む</translation>
    </message>
    <message>
        <source>Only one whose address you typed or allowed.</source>
        <translation>入力または許可した URL だけです。</translation>
    </message>
    <message>
        <source>%1 cannot use tools.</source>
        <translation>%1 はツールを使えません。</translation>
    </message>
    <message>
        <source>No other installed model can.</source>
        <translation>インストール済みのほかのモデルも使えません。</translation>
    </message>
    <message>
        <source>Installed and able to: %1.</source>
        <translation>使えるインストール済みモデル：%1。</translation>
    </message>
    <message>
        <source>Runs without asking.</source>
        <translation>確認なしで許可されています。</translation>
    </message>
    <message>
        <source>Ask again</source>
        <translation>再び確認</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>オフ</translation>
    </message>
    <message>
        <source>Starts when a chat first needs it</source>
        <translation>チャットで最初に必要になったとき起動します</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>起動中…</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>実行中</translation>
    </message>
    <message>
        <source>Looking for its sign-in…</source>
        <translation>サインインページを探しています…</translation>
    </message>
    <message>
        <source>Sign in at %1, in your browser.</source>
        <translation>ブラウザで %1 にサインインしてください。</translation>
    </message>
    <message>
        <source>Hunch has what it needs. You can close this page.</source>
        <translation>Hunch に必要な情報が届きました。このページは閉じてかまいません。</translation>
    </message>
    <message>
        <source>You did not sign in. You can close this page.</source>
        <translation>サインインしませんでした。このページは閉じてかまいません。</translation>
    </message>
    <message>
        <source>This is not the sign-in that Hunch is waiting for.</source>
        <translation>Hunch が待っているサインインではありません。</translation>
    </message>
    <message>
        <source>Needs %1, which is not on this Mac.</source>
        <translation>%1 が必要ですが、この Mac にはありません。</translation>
    </message>
    <message>
        <source>Its folder %1 does not exist.</source>
        <translation>フォルダ %1 がありません。</translation>
    </message>
    <message>
        <source>Needs a value for %1.</source>
        <translation>%1 の値が必要です。</translation>
    </message>
    <message>
        <source>Cannot be started: %1</source>
        <translation>起動できません：%1</translation>
    </message>
    <message>
        <source>It ended by itself (%1).</source>
        <translation>自分で終了しました（%1）。</translation>
    </message>
    <message>
        <source>It sent more than %1 MB at once and was stopped.</source>
        <translation>一度に %1 MB を超えるデータを送ってきたため、停止しました。</translation>
    </message>
    <message>
        <source>No answer in %1 seconds.</source>
        <translation>%1 秒間応答がありません。</translation>
    </message>
    <message>
        <source>It refused: %1</source>
        <translation>拒否されました：%1</translation>
    </message>
    <message>
        <source>Cannot be reached: %1</source>
        <translation>接続できません：%1</translation>
    </message>
    <message>
        <source>It wants a sign-in (%1). A key in its headers may do.</source>
        <translation>サインインが必要です（%1）。ヘッダにキーを設定すると使える場合があります。</translation>
    </message>
    <message>
        <source>The sign-in took more than %1 minutes.</source>
        <translation>サインインに %1 分以上かかりました。</translation>
    </message>
    <message>
        <source>The sign-in was refused (%1).</source>
        <translation>サインインが拒否されました（%1）。</translation>
    </message>
    <message>
        <source>It wants the sign-in at %1 now, not where it was before. Sign out first if that is right.</source>
        <translation>サインインする場所が前と違い、%1 になっています。正しければ、先にサインアウトしてください。</translation>
    </message>
    <message>
        <source>A call needs more than you allowed at the sign-in (%1). Sign in again to allow it.</source>
        <translation>サインイン時に許可した範囲を超える権限（%1）が必要な呼び出しがありました。許可するには、もう一度サインインしてください。</translation>
    </message>
    <message>
        <source>%1 cannot be the name of a variable or header.</source>
        <translation>%1 は変数やヘッダの名前に使えません。</translation>
    </message>
    <message>
        <source>The value of %1 cannot be used.</source>
        <translation>%1 の値は使えません。</translation>
    </message>
    <message>
        <source>More than %1 are not taken.</source>
        <translation>%1 個までです。</translation>
    </message>
    <message>
        <source>Only https addresses, and ones on this Mac.</source>
        <translation>https の URL か、この Mac 上の URL だけを使えます。</translation>
    </message>
    <message>
        <source>Its command has characters that cannot be seen.</source>
        <translation>コマンドに見えない文字が含まれています。</translation>
    </message>
    <message>
        <source>It sent too many messages and was stopped.</source>
        <translation>メッセージを送りすぎたため、停止しました。</translation>
    </message>
    <message>
        <source>It asks for input, which Hunch does not give.</source>
        <translation>入力を求められましたが、Hunch は応じません。</translation>
    </message>
    <message>
        <source>Sign in to use it.</source>
        <translation>使うにはサインインしてください。</translation>
    </message>
    <message>
        <source>It offers no sign-in that Hunch can use. A key in its headers may do.</source>
        <translation>Hunch が使えるサインインを提供していません。ヘッダにキーを設定すると使える場合があります。</translation>
    </message>
    <message>
        <source>Its sign-in is only for apps that it knows. A key in its headers may do.</source>
        <translation>登録済みのアプリだけがサインインできます。ヘッダにキーを設定すると使える場合があります。</translation>
    </message>
    <message>
        <source>The sign-in failed.</source>
        <translation>サインインできませんでした。</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>停止しました</translation>
    </message>
    <message>
        <source>It closed its connection.</source>
        <translation>接続を閉じました。</translation>
    </message>
    <message>
        <source>It speaks another version of MCP.</source>
        <translation>別のバージョンの MCP を使っています。</translation>
    </message>
    <message>
        <source>Hunch&apos;s part for tools ended. The next call starts it again.</source>
        <translation>Hunch のツール用プロセスが終了しました。次の呼び出しで再び起動します。</translation>
    </message>
    <message>
        <source>Hunch&apos;s part for tools cannot be started.</source>
        <translation>Hunch のツール用プロセスを起動できません。</translation>
    </message>
    <message>
        <source>What it was to be called with is not valid.</source>
        <translation>呼び出しの引数が正しくありません。</translation>
    </message>
    <message>
        <source>It does not speak the protocol of tool servers (MCP).</source>
        <translation>ツールサーバのプロトコル（MCP）に対応していません。</translation>
    </message>
</context>
<context>
    <name>ToolsPage</name>
    <message>
        <source>What a model may do besides writing. Which of them, you choose for each chat, in the composer.</source>
        <translation>モデルが文章を書く以外にできることです。どれを使うかは、チャットごとに入力欄で選びます。</translation>
    </message>
    <message>
        <source>Tool servers (MCP)</source>
        <translation>ツールサーバ（MCP）</translation>
    </message>
    <message>
        <source>Add a server</source>
        <translation>サーバを追加</translation>
    </message>
    <message>
        <source>None yet. A server gives models more tools: for files, calendars, code, the web and others.</source>
        <translation>まだありません。サーバを追加すると、ファイル、カレンダー、コード、Web などのツールが増えます。</translation>
    </message>
</context>
<context>
    <name>Totals</name>
    <message>
        <source>By pair</source>
        <translation>ペア別</translation>
    </message>
    <message>
        <source>By language</source>
        <translation>言語別</translation>
    </message>
    <message>
        <source>By content</source>
        <translation>内容別</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>時間</translation>
    </message>
    <message>
        <source>English</source>
        <translation>英語</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>韓国語</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>日本語</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>中国語</translation>
    </message>
    <message>
        <source>Prose</source>
        <translation>文章</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>コード</translation>
    </message>
    <message>
        <source>Lists and tables</source>
        <translation>リストと表</translation>
    </message>
    <message>
        <source>Other</source>
        <translation>その他</translation>
    </message>
    <message>
        <source>Clear all statistics?</source>
        <translation>統計をすべて消去しますか？</translation>
    </message>
    <message>
        <source>Chats and their figures stay.</source>
        <translation>チャットと、回答の下の数値は残ります。</translation>
    </message>
    <message numerus="yes">
        <source>%Ln reply(s)</source>
        <translation>
            <numerusform>回答 %Ln 件</numerusform>
        </translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>消去</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Totals</source>
        <translation>合計</translation>
    </message>
    <message>
        <source>Totals appear after the first reply.</source>
        <translation>最初の回答のあとに表示されます。</translation>
    </message>
    <message>
        <source>Clear statistics…</source>
        <translation>統計を消去…</translation>
    </message>
</context>
<context>
    <name>TranscriptMenu</name>
    <message>
        <source>Copy</source>
        <translation>コピー</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>Markdown としてコピー</translation>
    </message>
    <message>
        <source>Quote</source>
        <translation>引用</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>すべてを選択</translation>
    </message>
    <message>
        <source>Copy as TeX</source>
        <translation>TeX としてコピー</translation>
    </message>
    <message>
        <source>Copy Link</source>
        <translation>リンクをコピー</translation>
    </message>
</context>
<context>
    <name>TranscriptView</name>
    <message>
        <source>Your message, %1 of %2</source>
        <translation>自分のメッセージ、%2 件中 %1 件目</translation>
    </message>
    <message>
        <source>Reply, message %1 of %2</source>
        <translation>回答、%2 件中 %1 件目のメッセージ</translation>
    </message>
    <message>
        <source>Footnote %1</source>
        <translation>脚注 %1</translation>
    </message>
    <message>
        <source>Back from footnote %1</source>
        <translation>脚注 %1 から本文へ</translation>
    </message>
    <message>
        <source>Link: %1</source>
        <translation>リンク：%1</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>メッセージ</translation>
    </message>
</context>
<context>
    <name>Trash</name>
    <message>
        <source>Messages in “%1”</source>
        <translation>「%1」のメッセージ</translation>
    </message>
    <message>
        <source>deleted today</source>
        <translation>今日削除</translation>
    </message>
    <message>
        <source>deleted yesterday</source>
        <translation>昨日削除</translation>
    </message>
    <message>
        <source>deleted on %1</source>
        <translation>%1 に削除</translation>
    </message>
</context>
<context>
    <name>TrashMenu</name>
    <message>
        <source>Restore “%1”</source>
        <translation>「%1」を復元</translation>
    </message>
    <message>
        <source>Restore Messages in “%1”</source>
        <translation>「%1」のメッセージを復元</translation>
    </message>
    <message>
        <source>Nothing in the last 30 days</source>
        <translation>過去 30 日間にはありません</translation>
    </message>
    <message>
        <source>Show All…</source>
        <translation>すべて表示…</translation>
    </message>
</context>
<context>
    <name>TrashWindow</name>
    <message numerus="yes">
        <source>Permanently delete %Ln item(s)?</source>
        <translation>
            <numerusform>%Ln 項目を完全に削除しますか？</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete permanently</source>
        <translation>完全に削除</translation>
    </message>
    <message>
        <source>Empty Recently Deleted?</source>
        <translation>「最近削除した項目」を空にしますか？</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>空にする</translation>
    </message>
    <message>
        <source>Backups included. This cannot be undone.</source>
        <translation>バックアップからも消え、元に戻せません。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>キャンセル</translation>
    </message>
    <message>
        <source>Recently Deleted</source>
        <translation>最近削除した項目</translation>
    </message>
    <message>
        <source>Nothing deleted in the last 30 days.</source>
        <translation>この 30 日間に削除した項目はありません。</translation>
    </message>
    <message>
        <source>Recently deleted chats and messages</source>
        <translation>最近削除したチャットとメッセージ</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>復元</translation>
    </message>
    <message>
        <source>Delete permanently…</source>
        <translation>完全に削除…</translation>
    </message>
    <message>
        <source>Empty…</source>
        <translation>空にする…</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Open Hunch</source>
        <translation>Hunch を開く</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>クイック質問…</translation>
    </message>
    <message>
        <source>New Chat</source>
        <translation>新規チャット</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>Hunch を終了</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>モデルが読み込まれていません</translation>
    </message>
    <message>
        <source>No model in memory</source>
        <translation>メモリにモデルがありません</translation>
    </message>
    <message>
        <source>Loading %1…</source>
        <translation>%1 を読み込み中…</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>%1 を読み込めません</translation>
    </message>
    <message numerus="yes">
        <source>%Ln reply(s) being written</source>
        <translation>
            <numerusform>%Ln 件の回答を書いています</numerusform>
        </translation>
    </message>
    <message>
        <source>Not writing</source>
        <translation>書いている回答はありません</translation>
    </message>
</context>
<context>
    <name>UnseenNote</name>
    <message>
        <source>%1 only answers about pictures.</source>
        <translation>%1 は画像についての質問にだけ答えます。</translation>
    </message>
    <message>
        <source>%1 cannot see pictures.</source>
        <translation>%1 は画像を認識できません。</translation>
    </message>
    <message>
        <source>%1 can, about %2.</source>
        <translation>%1 なら認識できます（約 %2）。</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 を使う</translation>
    </message>
    <message>
        <source>Install %1</source>
        <translation>%1 をインストール</translation>
    </message>
    <message>
        <source>Find one that can</source>
        <translation>認識できるモデルを探す</translation>
    </message>
</context>
<context>
    <name>Updates</name>
    <message>
        <source>Hunch %1 is available</source>
        <translation>Hunch %1 が公開されました</translation>
    </message>
    <message>
        <source>What&apos;s New</source>
        <translation>新機能</translation>
    </message>
    <message>
        <source>To update, run in a terminal: %1</source>
        <translation>アップデートするには、ターミナルで実行します：%1</translation>
    </message>
    <message>
        <source>Hunch %1</source>
        <translation>Hunch %1</translation>
    </message>
    <message>
        <source>Open Page</source>
        <translation>ページを開く</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>閉じる</translation>
    </message>
    <message>
        <source>Copy Command</source>
        <translation>コマンドをコピー</translation>
    </message>
</context>
<context>
    <name>WaitingStart</name>
    <message>
        <source>Your chats are open on %1.</source>
        <translation>チャットは %1 で開かれています。</translation>
    </message>
    <message>
        <source>Quit Hunch there first.</source>
        <translation>先にそちらの Hunch を終了してください。</translation>
    </message>
    <message>
        <source>Another copy of Hunch has your chats open and is not responding.</source>
        <translation>別の Hunch がチャットを開いたまま応答していません。</translation>
    </message>
    <message>
        <source>Force quit it if it does not quit by itself.</source>
        <translation>自動的に終了しない場合は、強制終了してください。</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>Hunch を終了</translation>
    </message>
</context>
<context>
    <name>YoursPage</name>
    <message>
        <source>Models folder</source>
        <translation>モデルのあるフォルダ</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>インストール済み</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>一覧を更新</translation>
    </message>
    <message>
        <source>More folders</source>
        <translation>その他のフォルダ</translation>
    </message>
    <message>
        <source>Their models are listed, never changed.</source>
        <translation>追加したフォルダのモデルも表示します。中身は変更しません。</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>フォルダを追加…</translation>
    </message>
</context>
<context>
    <name>_Calls</name>
    <message numerus="yes">
        <source>Allow %1 to make %Ln call(s)?</source>
        <translation>
            <numerusform>%1 による呼び出し %Ln 件を許可しますか？</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Counts</name>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>メッセージ %Ln 件</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln day(s) left</source>
        <translation>
            <numerusform>残り %Ln 日</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln download(s)</source>
        <translation>
            <numerusform>ダウンロード %Ln 回</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>%Ln トークン</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln tool(s) on</source>
        <translation>
            <numerusform>ツール %Ln 個がオン</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Passes</name>
    <message numerus="yes">
        <source>Without a draft: %1 tok/s, measured on %Ln token(s). Between %2× and %3×.</source>
        <translation>
            <numerusform>ドラフトなしでは毎秒 %1 トークン（%Ln トークンで測定）。%2〜%3 倍の範囲です。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_RaceCounts</name>
    <message numerus="yes">
        <source>Same text: %Ln token(s).</source>
        <translation>
            <numerusform>同じテキストです：%Ln トークン。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Median of %Ln pair(s) of laps.</source>
        <translation>
            <numerusform>%Ln 組の中央値。</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Words</name>
    <message numerus="yes">
        <source>Copied without %Ln control character(s)</source>
        <translation>
            <numerusform>制御文字 %Ln 個を除いてコピーしました</numerusform>
        </translation>
    </message>
</context>
</TS>
