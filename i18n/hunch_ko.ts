<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="ko" sourcelanguage="en">
<context>
    <name>About</name>
    <message>
        <source>Hunch %1</source>
        <translation>Hunch %1</translation>
    </message>
    <message>
        <source>Build %1</source>
        <translation>빌드 %1</translation>
    </message>
    <message>
        <source>A small draft guesses, the main model checks.</source>
        <translation>작은 초안 모델이 추측하고 메인 모델이 확인해요.</translation>
    </message>
    <message>
        <source>Apache License 2.0.</source>
        <translation>Apache 라이선스 2.0.</translation>
    </message>
    <message>
        <source>Licenses</source>
        <translation>라이선스</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
</context>
<context>
    <name>ActivityWindow</name>
    <message>
        <source>Activity</source>
        <translation>활동</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>요청</translation>
    </message>
    <message>
        <source>Totals</source>
        <translation>합계</translation>
    </message>
    <message>
        <source>Replies appear here as they are written.</source>
        <translation>쓰고 있는 답변이 여기에 나타나요.</translation>
    </message>
</context>
<context>
    <name>AddCard</name>
    <message>
        <source>That is no command, no address and no JSON with servers.</source>
        <translation>명령이나 주소, 서버가 담긴 JSON이 아니에요.</translation>
    </message>
    <message>
        <source>Added, and off until you turn it on: %1</source>
        <translation>추가했어요. 켜기 전까지는 꺼져 있어요: %1</translation>
    </message>
    <message>
        <source>Nothing new was found.</source>
        <translation>새로운 항목이 없어요.</translation>
    </message>
    <message>
        <source>Command, address or JSON</source>
        <translation>명령, 주소 또는 JSON</translation>
    </message>
    <message>
        <source>Such as %1 or %2. Keys in it go to the keychain.</source>
        <translation>예: %1 또는 %2. 들어 있는 키는 키체인에 저장해요.</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>추가</translation>
    </message>
</context>
<context>
    <name>AdvancedPage</name>
    <message>
        <source>Reset all settings?</source>
        <translation>모든 설정을 초기화할까요?</translation>
    </message>
    <message>
        <source>Chats, models, presets, system prompt and hub access stay.</source>
        <translation>채팅, 모델, 프리셋, 시스템 프롬프트, 허브 연결은 그대로 남아요.</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>초기화</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Hub</source>
        <translation>허브</translation>
    </message>
    <message>
        <source>Hunch</source>
        <translation>Hunch</translation>
    </message>
    <message>
        <source>Reset…</source>
        <translation>초기화…</translation>
    </message>
    <message>
        <source>Data folder</source>
        <translation>데이터 폴더</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>로그</translation>
    </message>
    <message>
        <source>Errors, never chat text.</source>
        <translation>오류만 기록하고 채팅 내용은 담지 않아요.</translation>
    </message>
    <message>
        <source>Reset all settings</source>
        <translation>모든 설정 초기화</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>초안 모델</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>보기</translation>
    </message>
    <message>
        <source>Use OpenBLAS</source>
        <translation>OpenBLAS 사용</translation>
    </message>
    <message>
        <source>Much faster, but a draft may change replies. Needs a restart.</source>
        <translation>훨씬 빠르지만, 초안 모델이 답변을 바꿀 수 있어요. 다시 시작해야 적용돼요.</translation>
    </message>
    <message>
        <source>Use Fusion style</source>
        <translation>Fusion 스타일 사용</translation>
    </message>
    <message>
        <source>If controls look wrong.</source>
        <translation>컨트롤이 이상하게 보일 때 쓰세요.</translation>
    </message>
</context>
<context>
    <name>AppOffer</name>
    <message>
        <source>Hunch then opens from Spotlight and the Dock, like any app.</source>
        <translation>그러면 다른 앱처럼 Spotlight와 Dock에서 열 수 있어요.</translation>
    </message>
    <message>
        <source>Add Hunch to your Applications?</source>
        <translation>Hunch를 응용 프로그램에 추가할까요?</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>추가</translation>
    </message>
    <message>
        <source>Hunch is in the Applications folder in your home folder.</source>
        <translation>홈 폴더의 응용 프로그램 폴더에 Hunch를 추가했어요.</translation>
    </message>
    <message>
        <source>The Applications folder in your home folder cannot be written to.</source>
        <translation>홈 폴더의 응용 프로그램 폴더에 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>Hunch was not added</source>
        <translation>Hunch를 추가하지 못했어요</translation>
    </message>
</context>
<context>
    <name>AppearancePage</name>
    <message>
        <source>Appearance</source>
        <translation>화면 모드</translation>
    </message>
    <message>
        <source>Auto matches the system theme.</source>
        <translation>‘자동’은 시스템 테마를 따라요.</translation>
    </message>
    <message>
        <source>Text size</source>
        <translation>글자 크기</translation>
    </message>
    <message>
        <source>Now dark.</source>
        <translation>현재 다크 모드</translation>
    </message>
    <message>
        <source>Now light.</source>
        <translation>현재 라이트 모드</translation>
    </message>
    <message>
        <source>Now on.</source>
        <translation>현재 켜짐</translation>
    </message>
    <message>
        <source>Now off.</source>
        <translation>현재 꺼짐</translation>
    </message>
    <message>
        <source>Animations</source>
        <translation>애니메이션</translation>
    </message>
    <message>
        <source>Auto follows Reduce Motion.</source>
        <translation>‘자동’은 동작 줄이기를 따라요.</translation>
    </message>
    <message>
        <source>Figures under replies</source>
        <translation>답변 아래 수치</translation>
    </message>
    <message>
        <source>Speed, accept rate, tokens per pass.</source>
        <translation>속도, 수락률, 패스당 토큰.</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>자동</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>라이트</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>다크</translation>
    </message>
    <message>
        <source>On</source>
        <translation>켬</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>끔</translation>
    </message>
</context>
<context>
    <name>Application</name>
    <message>
        <source>Continue without saving</source>
        <translation>저장하지 않고 계속</translation>
    </message>
    <message>
        <source>Messages recovered: %1 (%2 from backups).</source>
        <translation>메시지 %1개를 복구했어요(백업에서 %2개).</translation>
    </message>
    <message>
        <source>The damaged file, with deleted content, stays in %2 as %1 for 30 days.</source>
        <translation>손상된 파일은 %2 폴더에 %1 이름으로 30일 동안 보관돼요. 그 파일에는 삭제한 내용도 들어 있어요.</translation>
    </message>
    <message>
        <source>Chats repaired</source>
        <translation>채팅을 복구했어요</translation>
    </message>
    <message>
        <source>New chats are lost when you quit.</source>
        <translation>새 내용은 종료하면 사라져요.</translation>
    </message>
    <message>
        <source>Not saving chats</source>
        <translation>채팅을 저장하지 않아요</translation>
    </message>
    <message>
        <source>Using defaults. The file is unchanged.</source>
        <translation>지금은 기본값을 써요. 파일은 그대로예요.</translation>
    </message>
    <message>
        <source>Settings not read</source>
        <translation>설정을 읽지 못했어요</translation>
    </message>
    <message>
        <source>The old file is kept as %1.</source>
        <translation>이전 파일은 %1 이름으로 남겨 두었어요.</translation>
    </message>
    <message>
        <source>Some settings were reset</source>
        <translation>일부 설정을 초기화했어요</translation>
    </message>
    <message>
        <source>Settings apply until you quit.</source>
        <translation>종료할 때까지만 적용돼요.</translation>
    </message>
    <message>
        <source>They are too large. Delete presets or shorten system prompts.</source>
        <translation>설정이 너무 커요. 프리셋을 삭제하거나 시스템 프롬프트를 줄이세요.</translation>
    </message>
    <message>
        <source>Settings not saved</source>
        <translation>설정이 저장되지 않았어요</translation>
    </message>
    <message>
        <source>Hunch quit while loading %1. Using the starter pair.</source>
        <translation>%1 모델을 불러오다가 Hunch가 종료됐어요. 대신 기본 모델을 써요.</translation>
    </message>
    <message>
        <source>Hunch quit while loading the draft %1.</source>
        <translation>%1 초안 모델을 불러오다가 Hunch가 종료됐어요.</translation>
    </message>
    <message>
        <source>Another model is loaded</source>
        <translation>다른 모델을 불러왔어요</translation>
    </message>
    <message>
        <source>Show Report</source>
        <translation>보고서 보기</translation>
    </message>
    <message>
        <source>You can already type.</source>
        <translation>지금 입력해도 돼요.</translation>
    </message>
    <message>
        <source>Opening your chats…</source>
        <translation>채팅 여는 중…</translation>
    </message>
    <message>
        <source>Your chats are open on %1</source>
        <translation>%1에서 채팅이 열려 있어요</translation>
    </message>
    <message>
        <source>Quit Hunch there, or words may be lost.</source>
        <translation>그곳의 Hunch를 종료하세요. 그러지 않으면 글이 사라질 수 있어요.</translation>
    </message>
    <message>
        <source>If it is not running there, open them here.</source>
        <translation>그곳에서 실행 중이 아니라면 여기에서 여세요.</translation>
    </message>
    <message>
        <source>Open Here</source>
        <translation>여기에서 열기</translation>
    </message>
    <message>
        <source>No draft model</source>
        <translation>초안 모델 없음</translation>
    </message>
    <message>
        <source>Hunch quit unexpectedly. Your chats are safe.</source>
        <translation>Hunch가 예기치 않게 종료됐어요. 채팅은 안전해요.</translation>
    </message>
    <message>
        <source>Your chats need a newer Hunch.</source>
        <translation>채팅을 열려면 더 새로운 Hunch가 필요해요.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>Something went wrong in Hunch</source>
        <translation>Hunch에 문제가 생겼어요</translation>
    </message>
</context>
<context>
    <name>AttachmentActions</name>
    <message>
        <source>Attachment too long for this model.</source>
        <translation>첨부 파일이 이 모델에는 너무 길어요.</translation>
    </message>
    <message>
        <source>Keep only its beginning</source>
        <translation>앞부분만 남기기</translation>
    </message>
    <message>
        <source>Search in it</source>
        <translation>여기서 찾기</translation>
    </message>
    <message>
        <source>Attach Files</source>
        <translation>파일 첨부</translation>
    </message>
    <message>
        <source>Attach only its end</source>
        <translation>끝부분만 첨부</translation>
    </message>
</context>
<context>
    <name>AttachmentChip</name>
    <message>
        <source>Picture</source>
        <translation>이미지</translation>
    </message>
    <message>
        <source>this model cannot see it</source>
        <translation>이 모델은 볼 수 없음</translation>
    </message>
    <message>
        <source>contains a match</source>
        <translation>찾은 내용 있음</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 제거</translation>
    </message>
    <message>
        <source>Pasted text</source>
        <translation>붙여넣은 텍스트</translation>
    </message>
    <message>
        <source>From the documents</source>
        <translation>문서에서 찾은 내용</translation>
    </message>
    <message>
        <source>not imported</source>
        <translation>가져오지 않음</translation>
    </message>
    <message>
        <source>searched</source>
        <translation>검색 대상</translation>
    </message>
    <message>
        <source>Reading…</source>
        <translation>읽는 중…</translation>
    </message>
    <message>
        <source>Reading… %1</source>
        <translation>읽는 중… %1</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>토큰 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>Open</source>
        <translation>열기</translation>
    </message>
    <message>
        <source>Insert into Message</source>
        <translation>메시지에 삽입</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>제거</translation>
    </message>
</context>
<context>
    <name>AttachmentDialog</name>
    <message>
        <source>Not included in the import.</source>
        <translation>가져온 채팅에 이 파일이 없었어요.</translation>
    </message>
    <message>
        <source>Page %1</source>
        <translation>%1쪽</translation>
    </message>
    <message>
        <source>Line %1</source>
        <translation>%1행</translation>
    </message>
    <message>
        <source>Open the File</source>
        <translation>파일 열기</translation>
    </message>
    <message>
        <source>Show in Folder</source>
        <translation>폴더에서 보기</translation>
    </message>
    <message>
        <source>Insert into Message</source>
        <translation>메시지에 삽입</translation>
    </message>
    <message>
        <source>Remove from Message</source>
        <translation>메시지에서 제거</translation>
    </message>
</context>
<context>
    <name>Banner</name>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
</context>
<context>
    <name>BeginningPart</name>
    <message>
        <source>The model reads from here on</source>
        <translation>모델이 여기부터 읽어요</translation>
    </message>
    <message>
        <source>The model reads this summary, and what follows</source>
        <translation>모델이 이 요약과 그다음부터 읽어요</translation>
    </message>
    <message>
        <source>Summary of earlier messages</source>
        <translation>앞의 메시지 요약</translation>
    </message>
    <message>
        <source>Show what is left out</source>
        <translation>읽지 않는 내용 보기</translation>
    </message>
</context>
<context>
    <name>CallPart</name>
    <message>
        <source>Hide the call</source>
        <translation>호출 내용 가리기</translation>
    </message>
    <message>
        <source>Show the call</source>
        <translation>호출 내용 보기</translation>
    </message>
</context>
<context>
    <name>CallTextPart</name>
    <message>
        <source>Arguments</source>
        <translation>인수</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>결과</translation>
    </message>
    <message>
        <source>What went wrong</source>
        <translation>오류 내용</translation>
    </message>
    <message>
        <source>Copy result</source>
        <translation>결과 복사</translation>
    </message>
    <message>
        <source>Copy arguments</source>
        <translation>인수 복사</translation>
    </message>
</context>
<context>
    <name>ChatCard</name>
    <message>
        <source>Send with</source>
        <translation>보내기 키</translation>
    </message>
    <message>
        <source>Shift-Return starts a new line.</source>
        <translation>Shift-Return은 줄 바꿈이에요.</translation>
    </message>
    <message>
        <source>Automatic titles</source>
        <translation>자동 제목</translation>
    </message>
    <message>
        <source>Notifications</source>
        <translation>알림</translation>
    </message>
    <message>
        <source>When a reply finishes in the background.</source>
        <translation>다른 앱을 쓰는 동안 답변이 끝나면 알려 드려요.</translation>
    </message>
    <message>
        <source>Show the reply in notifications</source>
        <translation>알림에 답변 표시</translation>
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
        <translation>yyyy년 M월</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>고정됨</translation>
    </message>
    <message>
        <source>Folders</source>
        <translation>폴더</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>오늘</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>어제</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <translation>지난 7일</translation>
    </message>
    <message>
        <source>%1 copy</source>
        <comment>the title of a chat&apos;s copy</comment>
        <translation>%1 사본</translation>
    </message>
    <message>
        <source>%1 copy %2</source>
        <comment>the title of a second or later copy</comment>
        <translation>%1 사본 %2</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>새 폴더</translation>
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
        <translation>‘%1’ 폴더를 삭제할까요?</translation>
    </message>
    <message>
        <source>Move contents up</source>
        <translation>내용을 위로 옮기기</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Delete everything</source>
        <translation>내용까지 삭제</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>채팅 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 and %2</source>
        <translation>%1, %2</translation>
    </message>
    <message numerus="yes">
        <source>%Ln folder(s)</source>
        <translation>
            <numerusform>폴더 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted chats stay in Recently Deleted for 30 days.</source>
        <translation>삭제한 채팅은 30일 동안 ‘최근 삭제한 항목’에 남아 있어요.</translation>
    </message>
    <message>
        <source>Contains %1.</source>
        <translation>이 폴더에 %1가 있어요.</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>새 폴더</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>이름 변경…</translation>
    </message>
    <message numerus="yes">
        <source>Export %Ln chat(s)…</source>
        <translation>
            <numerusform>채팅 %Ln개 내보내기…</numerusform>
        </translation>
    </message>
    <message>
        <source>New Chat Here</source>
        <translation>여기에서 새 채팅</translation>
    </message>
    <message>
        <source>Project…</source>
        <translation>프로젝트…</translation>
    </message>
    <message>
        <source>New Subfolder</source>
        <translation>하위 폴더 만들기</translation>
    </message>
    <message>
        <source>Move to</source>
        <translation>이동</translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>채팅 %Ln개 삭제</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete…</source>
        <translation>삭제…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>고정 해제</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>고정</translation>
    </message>
    <message>
        <source>Duplicate</source>
        <translation>복제</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>내보내기…</translation>
    </message>
    <message>
        <source>Folder name</source>
        <translation>폴더 이름</translation>
    </message>
    <message>
        <source>Chat title</source>
        <translation>채팅 제목</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>삭제</translation>
    </message>
</context>
<context>
    <name>ChatMenu</name>
    <message>
        <source>No Folder</source>
        <translation>폴더 없음</translation>
    </message>
    <message>
        <source>New Folder…</source>
        <translation>새 폴더…</translation>
    </message>
</context>
<context>
    <name>ChatRows</name>
    <message>
        <source>level %1</source>
        <translation>%1단계</translation>
    </message>
    <message>
        <source>open folder</source>
        <translation>열린 폴더</translation>
    </message>
    <message>
        <source>closed folder</source>
        <translation>닫힌 폴더</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>고정됨</translation>
    </message>
    <message>
        <source>writing a reply</source>
        <translation>답변을 쓰는 중</translation>
    </message>
    <message>
        <source>new reply</source>
        <translation>새 답변</translation>
    </message>
    <message>
        <source>unsent text</source>
        <translation>쓰다 만 글 있음</translation>
    </message>
    <message>
        <source>More in this chat</source>
        <translation>이 채팅에 더 있어요</translation>
    </message>
</context>
<context>
    <name>ChatSettings</name>
    <message>
        <source>This model</source>
        <translation>이 모델</translation>
    </message>
    <message>
        <source>This chat</source>
        <translation>이 채팅</translation>
    </message>
    <message>
        <source>Settings for</source>
        <translation>설정 대상</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>채팅 설정</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>모두 초기화</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
</context>
<context>
    <name>ChatSettingsButton</name>
    <message>
        <source>Chat settings (changed here)</source>
        <translation>채팅 설정(이 채팅에서 바꿈)</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>채팅 설정</translation>
    </message>
    <message>
        <source>Chat Settings…</source>
        <translation>채팅 설정…</translation>
    </message>
</context>
<context>
    <name>ChatToolsButton</name>
    <message>
        <source>Tools: %1</source>
        <translation>도구: %1</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>도구</translation>
    </message>
</context>
<context>
    <name>ChatToolsPanel</name>
    <message>
        <source>Choose a model first.</source>
        <translation>먼저 모델을 고르세요.</translation>
    </message>
    <message>
        <source>After a change the model reads the whole chat again.</source>
        <translation>바꾸면 모델이 채팅 전체를 다시 읽어요.</translation>
    </message>
    <message>
        <source>Tools in this chat</source>
        <translation>이 채팅의 도구</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>That is a lot: less of the chat fits, and small models choose worse among many.</source>
        <translation>자리를 많이 차지해요. 채팅에 쓸 자리가 줄고, 작은 모델은 도구를 잘 고르지 못해요.</translation>
    </message>
    <message>
        <source>Manage Tools…</source>
        <translation>도구 관리…</translation>
    </message>
    <message>
        <source>Find one that can</source>
        <translation>쓸 수 있는 모델 찾기</translation>
    </message>
</context>
<context>
    <name>Clients</name>
    <message>
        <source>Add to %1.</source>
        <translation>%1 파일에 추가하세요.</translation>
    </message>
    <message>
        <source>Run in a terminal.</source>
        <translation>터미널에서 실행하세요.</translation>
    </message>
    <message>
        <source>In Xcode, Settings &gt; Intelligence: add a locally hosted provider with port %1.</source>
        <translation>Xcode의 설정 &gt; 인텔리전스에서 로컬 제공자를 추가하고 포트 %1번을 입력하세요.</translation>
    </message>
    <message>
        <source>Already running: add %1 in Admin Panel &gt; Settings &gt; Connections, or %2 if it runs in Docker.</source>
        <translation>이미 실행 중이면 Admin Panel &gt; Settings &gt; Connections에서 %1 주소를 추가하세요. Docker에서 실행 중이면 %2 주소예요.</translation>
    </message>
    <message>
        <source>Run in a terminal. In short: %1</source>
        <translation>터미널에서 실행하세요. 줄여서: %1</translation>
    </message>
    <message>
        <source>%1 works with tools, and %2 calls none.</source>
        <translation>%1에는 도구를 호출하는 모델이 필요한데, %2 모델은 도구를 호출하지 못해요.</translation>
    </message>
    <message>
        <source>%1 needs a context of %2 tokens, and %3 has %4.</source>
        <translation>%1에는 토큰 %2개의 컨텍스트가 필요한데, %3 모델은 %4개예요.</translation>
    </message>
</context>
<context>
    <name>CodePart</name>
    <message>
        <source>Copy code</source>
        <translation>코드 복사</translation>
    </message>
    <message>
        <source>text</source>
        <translation>텍스트</translation>
    </message>
</context>
<context>
    <name>CommandPalette</name>
    <message>
        <source>Command palette</source>
        <translation>명령 팔레트</translation>
    </message>
    <message>
        <source>Search commands, chats, models and settings</source>
        <translation>명령, 채팅, 모델, 설정 검색</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>명령</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>명령</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>검색 결과가 없어요.</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Ask anything</source>
        <translation>무엇이든 물어보세요</translation>
    </message>
    <message>
        <source>Ask about a shape or a digit</source>
        <translation>도형이나 숫자에 대해 물어보세요</translation>
    </message>
    <message>
        <source>Ask about Hunch</source>
        <translation>Hunch에 대해 물어보세요</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>메시지</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>파일 첨부</translation>
    </message>
    <message>
        <source>Sends after this reply. Type to edit.</source>
        <translation>답변이 끝나면 보내요. 고치려면 입력하세요.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) too many.</source>
        <translation>
            <numerusform>토큰 %Ln개를 초과했어요.</numerusform>
        </translation>
    </message>
    <message>
        <source>Still reading an attachment.</source>
        <translation>첨부 파일을 읽고 있어요.</translation>
    </message>
    <message>
        <source>Still saving your last message.</source>
        <translation>마지막 메시지를 저장하고 있어요.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>중지</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>보내기</translation>
    </message>
</context>
<context>
    <name>ConnectCard</name>
    <message>
        <source>Enter the key there as well.</source>
        <translation>키도 그곳에 입력하세요.</translation>
    </message>
    <message>
        <source>Connect a program</source>
        <translation>프로그램 연결</translation>
    </message>
    <message>
        <source>Text to paste</source>
        <translation>붙여넣을 텍스트</translation>
    </message>
    <message>
        <source>%1 is installed and can serve it.</source>
        <translation>설치된 %1 모델로는 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>%1 can serve it: see Models.</source>
        <translation>%1 모델로는 쓸 수 있어요. ‘모델’에서 설치하세요.</translation>
    </message>
</context>
<context>
    <name>ConsentPart</name>
    <message>
        <source>What it would do</source>
        <translation>실행할 내용</translation>
    </message>
</context>
<context>
    <name>ContextRing</name>
    <message>
        <source>Context: %1 of %2 tokens</source>
        <translation>컨텍스트: %2토큰 중 %1토큰</translation>
    </message>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>앞의 메시지 %Ln개는 읽지 않음</numerusform>
        </translation>
    </message>
    <message>
        <source>When it is full, the oldest messages are left out</source>
        <translation>가득 차면 오래된 메시지를 제외해요</translation>
    </message>
    <message>
        <source>%1 of them are the project&apos;s, read once for all its chats</source>
        <translation>그중 %1개는 프로젝트의 것으로, 모든 채팅에서 한 번만 읽어요</translation>
    </message>
    <message>
        <source>Limited to %1 tokens (model: %2)</source>
        <translation>%1토큰으로 제한(모델 한도 %2토큰)</translation>
    </message>
    <message>
        <source>Memory holds about %1 tokens (model: %2)</source>
        <translation>메모리에는 약 %1토큰까지(모델 한도 %2토큰)</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) too many</source>
        <translation>
            <numerusform>토큰 %Ln개 초과</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 full</source>
        <comment>the context</comment>
        <translation>%1 사용</translation>
    </message>
</context>
<context>
    <name>CopyButton</name>
    <message>
        <source>Copied</source>
        <translation>복사됨</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>복사</translation>
    </message>
</context>
<context>
    <name>DiscoverPanel</name>
    <message>
        <source>Drafts for %1</source>
        <translation>%1에 맞는 초안 모델</translation>
    </message>
    <message>
        <source>Showing Hunch&apos;s built-in list.</source>
        <translation>대신 Hunch의 내장 목록을 보여 드려요.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln models; others may be missing.</source>
        <translation>
            <numerusform>모델 %Ln개예요. 빠진 모델이 있을 수 있어요.</numerusform>
        </translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>검색 중…</translation>
    </message>
    <message>
        <source>No results. Try fewer words or filters.</source>
        <translation>검색 결과가 없어요. 검색어나 필터를 줄여 보세요.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln models</source>
        <translation>
            <numerusform>모델 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>All models</source>
        <translation>모든 모델</translation>
    </message>
    <message>
        <source>Search models, or enter author/model</source>
        <translation>모델 검색, 또는 만든 사람/모델 입력</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>모델 검색</translation>
    </message>
    <message>
        <source>Any family</source>
        <translation>모든 계열</translation>
    </message>
    <message>
        <source>Any precision</source>
        <translation>모든 정밀도</translation>
    </message>
    <message>
        <source>Up to %1 GB</source>
        <translation>%1 GB 이하</translation>
    </message>
    <message>
        <source>Any size</source>
        <translation>모든 크기</translation>
    </message>
    <message>
        <source>Any kind</source>
        <translation>모든 종류</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>전용 초안 모델</translation>
    </message>
    <message>
        <source>Most downloads</source>
        <translation>다운로드 많은 순</translation>
    </message>
    <message>
        <source>Most likes</source>
        <translation>좋아요 많은 순</translation>
    </message>
    <message>
        <source>Newest</source>
        <translation>최신순</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>계열</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>정밀도</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>크기</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>종류</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>정렬</translation>
    </message>
    <message>
        <source>Runs on this Mac</source>
        <translation>이 Mac에서 쓸 수 있는 것만</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>다시 시도</translation>
    </message>
    <message>
        <source>Show more</source>
        <translation>더 보기</translation>
    </message>
    <message>
        <source>Models found</source>
        <translation>찾은 모델</translation>
    </message>
</context>
<context>
    <name>Dock</name>
    <message>
        <source>New Chat</source>
        <translation>새 채팅</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>빠른 질문…</translation>
    </message>
</context>
<context>
    <name>DownloadRing</name>
    <message>
        <source>Downloads paused at %1</source>
        <translation>다운로드가 %1에서 일시 정지됐어요</translation>
    </message>
    <message>
        <source>Downloading: %1</source>
        <translation>다운로드 중: %1</translation>
    </message>
</context>
<context>
    <name>DownloadRow</name>
    <message>
        <source>Pause</source>
        <translation>일시 정지</translation>
    </message>
    <message>
        <source>Resume</source>
        <translation>이어받기</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>다시 시도</translation>
    </message>
    <message>
        <source>Hide files</source>
        <translation>파일 숨기기</translation>
    </message>
    <message>
        <source>Show files</source>
        <translation>파일 보기</translation>
    </message>
    <message>
        <source>Try now</source>
        <translation>지금 시도</translation>
    </message>
    <message>
        <source>Remove from list</source>
        <translation>목록에서 제거</translation>
    </message>
    <message>
        <source>Remove and delete download</source>
        <translation>제거하고 받은 파일 삭제</translation>
    </message>
    <message>
        <source>Cancel and delete download</source>
        <translation>취소하고 받은 파일 삭제</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>사용</translation>
    </message>
    <message>
        <source>Open model page</source>
        <translation>모델 페이지 열기</translation>
    </message>
    <message>
        <source>The download failed.</source>
        <translation>다운로드하지 못했어요.</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>설치됨</translation>
    </message>
    <message>
        <source>Contacting hub…</source>
        <translation>허브에 확인하는 중…</translation>
    </message>
    <message>
        <source>Turn off offline mode to resume.</source>
        <translation>오프라인 모드를 끄면 이어받아요.</translation>
    </message>
    <message>
        <source>Paused at %1</source>
        <translation>%1에서 일시 정지</translation>
    </message>
    <message>
        <source>Paused at %1 of %2</source>
        <translation>%2 중 %1에서 일시 정지</translation>
    </message>
</context>
<context>
    <name>Downloads</name>
    <message>
        <source>%1 s left</source>
        <translation>%1초 남음</translation>
    </message>
    <message>
        <source>%1 min left</source>
        <translation>%1분 남음</translation>
    </message>
    <message>
        <source>%1 h %2 min left</source>
        <translation>%1시간 %2분 남음</translation>
    </message>
    <message>
        <source>%1 days left</source>
        <translation>%1일 남음</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%2 중 %1</translation>
    </message>
    <message>
        <source>%1 per second</source>
        <translation>초당 %1</translation>
    </message>
    <message>
        <source>Hub busy. Retrying in %1 s</source>
        <translation>허브가 바빠요. %1초 뒤 다시 시도</translation>
    </message>
    <message>
        <source>Connection lost. Retrying in %1 s</source>
        <translation>연결이 끊겼어요. %1초 뒤 다시 시도</translation>
    </message>
</context>
<context>
    <name>DraftRow</name>
    <message>
        <source>Install</source>
        <translation>설치</translation>
    </message>
    <message>
        <source>Install both</source>
        <translation>둘 다 설치</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>사용</translation>
    </message>
</context>
<context>
    <name>DropSign</name>
    <message>
        <source>Drop files to attach</source>
        <translation>파일을 놓아 첨부</translation>
    </message>
</context>
<context>
    <name>EditorPart</name>
    <message>
        <source>You</source>
        <translation>나</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Speaker</source>
        <translation>작성자</translation>
    </message>
    <message>
        <source>Your message</source>
        <translation>내 메시지</translation>
    </message>
    <message>
        <source>Model&apos;s reply</source>
        <translation>모델의 답변</translation>
    </message>
    <message>
        <source>New message</source>
        <translation>새 메시지</translation>
    </message>
    <message>
        <source>Edited message</source>
        <translation>편집 중인 메시지</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>파일 첨부</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Insert</source>
        <translation>삽입</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>저장</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>보내기</translation>
    </message>
    <message>
        <source>Insert and continue</source>
        <translation>삽입하고 이어 쓰기</translation>
    </message>
    <message>
        <source>Save and continue</source>
        <translation>저장하고 이어 쓰기</translation>
    </message>
    <message>
        <source>Insert and send</source>
        <translation>삽입하고 보내기</translation>
    </message>
    <message>
        <source>Save only</source>
        <translation>저장만 하기</translation>
    </message>
    <message>
        <source>Later messages stay.</source>
        <translation>뒤의 메시지는 남아요.</translation>
    </message>
    <message>
        <source>Generates a new reply.</source>
        <translation>새 답변을 생성해요.</translation>
    </message>
    <message>
        <source>The model continues from here.</source>
        <translation>모델이 여기서 이어 써요.</translation>
    </message>
</context>
<context>
    <name>EffortButton</name>
    <message>
        <source>Use for All Chats with %1</source>
        <translation>%1 모델의 모든 채팅에 사용</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>EmptyChat</name>
    <message>
        <source>Guess ahead, check at once, read sooner.</source>
        <translation>미리 추측하고, 한 번에 확인하고, 더 빨리 읽어요.</translation>
    </message>
    <message>
        <source>What is speculative decoding?</source>
        <extracomment>Three questions that the starter pair was taught; use the exact words of packaging/starter/guide.</extracomment>
        <translation>추측 디코딩이 뭐예요?</translation>
    </message>
    <message>
        <source>Does drafting change the text?</source>
        <translation>초안 모델을 쓰면 답변이 바뀌나요?</translation>
    </message>
    <message>
        <source>How do I get better answers?</source>
        <translation>더 좋은 답변을 얻으려면?</translation>
    </message>
    <message>
        <source>The starter pair only knows Hunch. %1: %2.</source>
        <comment>Install a model</comment>
        <translation>기본 모델은 Hunch만 알아요. %1: %2.</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>불러온 모델 없음</translation>
    </message>
    <message>
        <source>Install or choose one.</source>
        <translation>설치하거나 선택하세요.</translation>
    </message>
    <message>
        <source>Chat about anything</source>
        <translation>무엇이든 이야기해 보세요</translation>
    </message>
    <message>
        <source>%1 and its draft are installed.</source>
        <translation>%1 모델과 초안 모델이 설치됐어요.</translation>
    </message>
    <message>
        <source>The starter pair only knows Hunch. Install a larger model.</source>
        <translation>기본 모델은 Hunch만 알아요. 더 큰 모델을 설치하세요.</translation>
    </message>
    <message>
        <source>Models…</source>
        <translation>모델…</translation>
    </message>
</context>
<context>
    <name>ExportDialog</name>
    <message>
        <source>Export</source>
        <translation>내보내기</translation>
    </message>
    <message>
        <source>Export all chats</source>
        <translation>모든 채팅 내보내기</translation>
    </message>
    <message>
        <source>Export “%1”</source>
        <translation>‘%1’ 채팅 내보내기</translation>
    </message>
    <message>
        <source>Format</source>
        <translation>형식</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>내보내기…</translation>
    </message>
    <message numerus="yes">
        <source>Export %Ln chat(s)</source>
        <translation>
            <numerusform>채팅 %Ln개 내보내기</numerusform>
        </translation>
    </message>
    <message>
        <source>With the files of projects and chats</source>
        <translation>프로젝트와 채팅의 파일도 함께 내보내기</translation>
    </message>
    <message>
        <source>Exporting chat %1 of %2…</source>
        <translation>채팅 %2개 중 %1번째를 내보내는 중…</translation>
    </message>
    <message>
        <source>Exporting…</source>
        <translation>내보내는 중…</translation>
    </message>
    <message>
        <source>To import again: all versions, thinking, statistics, attachments.</source>
        <translation>다시 가져오기용: 모든 버전, 생각, 통계, 첨부 파일을 담아요.</translation>
    </message>
    <message>
        <source>To read: one file per chat.</source>
        <translation>읽기용: 채팅마다 파일 하나.</translation>
    </message>
    <message>
        <source>To read: as shown.</source>
        <translation>읽기용: 화면에 보이는 대로.</translation>
    </message>
    <message>
        <source>Export here</source>
        <translation>여기에 내보내기</translation>
    </message>
    <message>
        <source>Hunch chats %1</source>
        <comment>the name of a file; a date</comment>
        <translation>Hunch 채팅 %1</translation>
    </message>
</context>
<context>
    <name>FileLine</name>
    <message>
        <source>Remove %1</source>
        <translation>%1 제거</translation>
    </message>
</context>
<context>
    <name>Files</name>
    <message>
        <source>Files not attached: %1</source>
        <translation>첨부하지 못한 파일: %1개</translation>
    </message>
    <message>
        <source>And %1 more.</source>
        <translation>그 밖에 %1개 더 있어요.</translation>
    </message>
    <message>
        <source>%1 not attached</source>
        <translation>%1 파일을 첨부하지 못했어요</translation>
    </message>
    <message>
        <source>Not attached</source>
        <translation>첨부하지 못했어요</translation>
    </message>
    <message>
        <source>Not PNG, JPEG, GIF, WebP or BMP.</source>
        <translation>PNG, JPEG, GIF, WebP, BMP가 아니에요.</translation>
    </message>
    <message>
        <source>No readable text.</source>
        <translation>읽을 수 있는 텍스트가 없어요.</translation>
    </message>
    <message>
        <source>A folder.</source>
        <translation>폴더예요.</translation>
    </message>
    <message>
        <source>Empty.</source>
        <translation>비어 있어요.</translation>
    </message>
    <message>
        <source>Larger than %1.</source>
        <translation>파일이 %1보다 커요.</translation>
    </message>
    <message>
        <source>Longer than %1 characters.</source>
        <translation>텍스트가 %1자를 넘어요.</translation>
    </message>
    <message>
        <source>Up to %1 files per message.</source>
        <translation>메시지 하나에 %1개까지 첨부할 수 있어요.</translation>
    </message>
    <message>
        <source>Not found.</source>
        <translation>찾을 수 없어요.</translation>
    </message>
    <message>
        <source>No permission.</source>
        <translation>읽기 권한이 없어요.</translation>
    </message>
    <message>
        <source>Not readable.</source>
        <translation>읽을 수 없어요.</translation>
    </message>
    <message>
        <source>Password-protected.</source>
        <translation>비밀번호로 보호돼 있어요.</translation>
    </message>
    <message>
        <source>Page images without text.</source>
        <translation>페이지 이미지만 있고 텍스트가 없어요.</translation>
    </message>
    <message>
        <source>Damaged.</source>
        <translation>손상됐어요.</translation>
    </message>
    <message>
        <source>Too complex.</source>
        <translation>너무 복잡해요.</translation>
    </message>
    <message>
        <source>Up to %1 pixels.</source>
        <translation>%1픽셀까지예요.</translation>
    </message>
    <message>
        <source>Attach it as text or PDF.</source>
        <translation>텍스트나 PDF로 첨부하세요.</translation>
    </message>
    <message>
        <source>Attach its files.</source>
        <translation>폴더 안의 파일을 첨부하세요.</translation>
    </message>
    <message>
        <source>Attach only what you need.</source>
        <translation>필요한 부분만 첨부하세요.</translation>
    </message>
    <message>
        <source>Send these, or remove some.</source>
        <translation>먼저 보내거나 몇 개를 제거하세요.</translation>
    </message>
    <message>
        <source>Allow access in System Settings.</source>
        <translation>시스템 설정에서 허용하세요.</translation>
    </message>
    <message>
        <source>Check the disk.</source>
        <translation>디스크를 확인하세요.</translation>
    </message>
    <message>
        <source>Too many pixels.</source>
        <translation>픽셀이 너무 많아요.</translation>
    </message>
    <message>
        <source>Too narrow to make out.</source>
        <translation>너무 가늘어 알아볼 수 없어요.</translation>
    </message>
    <message>
        <source>Not saved.</source>
        <translation>저장하지 못했어요.</translation>
    </message>
    <message>
        <source>Save it as PNG or JPEG.</source>
        <translation>PNG나 JPEG로 저장하세요.</translation>
    </message>
    <message>
        <source>Attach a part.</source>
        <translation>일부만 잘라 첨부하세요.</translation>
    </message>
    <message>
        <source>Remove the password.</source>
        <translation>비밀번호를 해제하세요.</translation>
    </message>
    <message>
        <source>Run text recognition (OCR) first.</source>
        <translation>먼저 텍스트 인식(OCR)을 하세요.</translation>
    </message>
    <message>
        <source>Resave it in another app.</source>
        <translation>다른 앱에서 다시 저장하세요.</translation>
    </message>
    <message>
        <source>Attach fewer pages.</source>
        <translation>페이지 수를 줄여 첨부하세요.</translation>
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
        <translation>찾을 수 없음</translation>
    </message>
    <message>
        <source>Find in chat</source>
        <translation>채팅에서 찾기</translation>
    </message>
    <message>
        <source>Previous match</source>
        <translation>이전 결과</translation>
    </message>
    <message>
        <source>Next match</source>
        <translation>다음 결과</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
</context>
<context>
    <name>FoldPart</name>
    <message>
        <source>Hide thinking</source>
        <translation>생각 가리기</translation>
    </message>
    <message>
        <source>Show thinking</source>
        <translation>생각 보기</translation>
    </message>
    <message>
        <source>Thinking…</source>
        <translation>생각하는 중…</translation>
    </message>
    <message>
        <source>Thinking for %1…</source>
        <translation>%1째 생각하는 중…</translation>
    </message>
    <message>
        <source>Thought for %1</source>
        <translation>%1 동안 생각함</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1초</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1분 %2초</translation>
    </message>
    <message>
        <source>Answer now</source>
        <translation>바로 답하기</translation>
    </message>
</context>
<context>
    <name>FolderRow</name>
    <message>
        <source>Stop looking in %1</source>
        <translation>%1 폴더에서 더 이상 모델을 찾지 않기</translation>
    </message>
</context>
<context>
    <name>FoldersRow</name>
    <message>
        <source>Remove %1</source>
        <translation>%1 제거</translation>
    </message>
    <message>
        <source>Files and folders to read</source>
        <translation>읽을 수 있는 파일과 폴더</translation>
    </message>
    <message>
        <source>None yet.</source>
        <translation>아직 없어요.</translation>
    </message>
    <message>
        <source>Add Folder…</source>
        <translation>폴더 추가…</translation>
    </message>
    <message>
        <source>Add Files…</source>
        <translation>파일 추가…</translation>
    </message>
</context>
<context>
    <name>Formats</name>
    <message>
        <source>%1×</source>
        <translation>%1배</translation>
    </message>
</context>
<context>
    <name>GeneralPage</name>
    <message>
        <source>Never</source>
        <translation>안 함</translation>
    </message>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln분</numerusform>
        </translation>
    </message>
    <message>
        <source>Match system (%1)</source>
        <translation>시스템 설정 따름(%1)</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>언어</translation>
    </message>
    <message>
        <source>Menu bar icon</source>
        <translation>메뉴 막대 아이콘</translation>
    </message>
    <message>
        <source>System tray icon</source>
        <translation>시스템 트레이 아이콘</translation>
    </message>
    <message>
        <source>Keeps Hunch open for Quick Ask.</source>
        <translation>윈도우를 닫아도 빠른 질문을 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>Tell me about updates</source>
        <translation>업데이트 알림</translation>
    </message>
    <message>
        <source>Asks once a day. Installs nothing.</source>
        <translation>하루에 한 번 확인하고, 설치는 하지 않아요.</translation>
    </message>
    <message>
        <source>Unload idle models</source>
        <translation>쓰지 않는 모델 내리기</translation>
    </message>
    <message>
        <source>Your next message reloads them.</source>
        <translation>다음 메시지를 보내면 다시 불러와요.</translation>
    </message>
</context>
<context>
    <name>Header</name>
    <message>
        <source>Show sidebar</source>
        <translation>사이드바 보기</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>새 채팅</translation>
    </message>
</context>
<context>
    <name>Help</name>
    <message>
        <source>It holds no chats and no tokens.</source>
        <translation>채팅 내용과 토큰은 들어 있지 않아요.</translation>
    </message>
    <message>
        <source>Diagnostics copied</source>
        <translation>진단 정보를 복사했어요</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>보기</translation>
    </message>
</context>
<context>
    <name>HelpWindow</name>
    <message>
        <source>Hunch Help</source>
        <translation>Hunch 도움말</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>검색</translation>
    </message>
    <message>
        <source>Search Help</source>
        <translation>도움말 검색</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>검색 결과가 없어요.</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>페이지</translation>
    </message>
</context>
<context>
    <name>Hub</name>
    <message>
        <source>%1 parameters</source>
        <translation>매개변수 %1</translation>
    </message>
    <message>
        <source>needs a token</source>
        <translation>토큰 필요</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>설치</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>설치됨</translation>
    </message>
    <message>
        <source>not quantized</source>
        <translation>양자화 안 됨</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>약 %1</translation>
    </message>
</context>
<context>
    <name>HubCard</name>
    <message>
        <source>Address</source>
        <translation>주소</translation>
    </message>
    <message>
        <source>Token</source>
        <translation>토큰</translation>
    </message>
    <message>
        <source>For private and gated models.</source>
        <translation>비공개 모델이나 승인이 필요한 모델에 써요.</translation>
    </message>
    <message>
        <source>The token for %1 is never sent here.</source>
        <translation>%1 허브의 토큰은 여기로 보내지 않아요.</translation>
    </message>
    <message>
        <source>Now %1.</source>
        <translation>현재 %1</translation>
    </message>
    <message>
        <source>Send token unencrypted</source>
        <translation>토큰을 암호화하지 않고 보내기</translation>
    </message>
    <message>
        <source>For http. Others can read it.</source>
        <translation>http 주소에 보내요. 다른 사람이 볼 수 있어요.</translation>
    </message>
    <message>
        <source>Mirrors</source>
        <translation>미러</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>프록시</translation>
    </message>
    <message>
        <source>Empty: system proxy.</source>
        <translation>비워 두면 시스템 프록시.</translation>
    </message>
    <message>
        <source>Separate with spaces. Your token is never sent to them.</source>
        <translation>빈칸으로 구분하세요. 내 토큰은 미러로 보내지 않아요.</translation>
    </message>
    <message>
        <source>Download limit</source>
        <translation>다운로드 속도 제한</translation>
    </message>
    <message>
        <source>MB per second.</source>
        <translation>초당 MB.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>없음</translation>
    </message>
    <message>
        <source>Offline mode</source>
        <translation>오프라인 모드</translation>
    </message>
    <message>
        <source>Installed models keep working.</source>
        <translation>설치된 모델은 그대로 쓸 수 있어요.</translation>
    </message>
</context>
<context>
    <name>ImportCard</name>
    <message>
        <source>Its tool servers. Its file is only read.</source>
        <translation>이 앱의 도구 서버예요. 설정 파일은 읽기만 해요.</translation>
    </message>
    <message>
        <source>Import</source>
        <translation>가져오기</translation>
    </message>
    <message>
        <source>Import from %1</source>
        <translation>%1에서 가져오기</translation>
    </message>
</context>
<context>
    <name>ImportDialog</name>
    <message>
        <source>Import</source>
        <translation>가져오기</translation>
    </message>
    <message>
        <source>Import chats</source>
        <translation>채팅 가져오기</translation>
    </message>
    <message>
        <source>Cannot be imported</source>
        <translation>가져올 수 없는 항목</translation>
    </message>
    <message>
        <source>Import existing chats as copies</source>
        <translation>이미 있는 채팅도 사본으로 다시 가져오기</translation>
    </message>
    <message>
        <source>Choose folder…</source>
        <translation>폴더 선택…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>다시 시도</translation>
    </message>
    <message>
        <source>Choose files…</source>
        <translation>파일 선택…</translation>
    </message>
    <message>
        <source>Checking files…</source>
        <translation>파일 확인 중…</translation>
    </message>
    <message>
        <source>Importing…</source>
        <translation>가져오는 중…</translation>
    </message>
    <message>
        <source>From Hunch (JSON), ChatGPT (export or conversations.json) or LM Studio (“conversations”).</source>
        <translation>Hunch(JSON), ChatGPT(내보낸 압축 파일이나 conversations.json), LM Studio(‘conversations’)의 채팅을 가져와요.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s)</source>
        <translation>
            <numerusform>채팅 %Ln개</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>메시지 %Ln개</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln new preset(s)</source>
        <translation>
            <numerusform>새 프리셋 %Ln개</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln already here</source>
        <comment>chats</comment>
        <translation>
            <numerusform>이미 있음 %Ln개</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln unreadable</source>
        <comment>chats or files</comment>
        <translation>
            <numerusform>읽을 수 없음 %Ln개</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln picture(s) left out</source>
        <translation>
            <numerusform>빠진 이미지 %Ln개</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Inspector</name>
    <message>
        <source>No reply yet</source>
        <translation>아직 답변이 없어요</translation>
    </message>
    <message>
        <source>Drafting is off</source>
        <translation>초안 모델을 쓰지 않음</translation>
    </message>
    <message>
        <source>No draft</source>
        <translation>초안 없음</translation>
    </message>
    <message>
        <source>Drafting not supported</source>
        <translation>초안 모델을 쓸 수 없음</translation>
    </message>
    <message>
        <source>The draft failed</source>
        <translation>초안 모델 오류</translation>
    </message>
    <message>
        <source>Too short to judge</source>
        <translation>판단하기엔 짧아요</translation>
    </message>
    <message>
        <source>Nothing was written</source>
        <translation>쓴 내용이 없어요</translation>
    </message>
    <message>
        <source>Send a message first.</source>
        <translation>먼저 메시지를 보내세요.</translation>
    </message>
    <message>
        <source>Accepted by position</source>
        <translation>위치별 수락률</translation>
    </message>
    <message>
        <source>%1 of guesses were right.</source>
        <translation>추측의 %1가 맞았어요.</translation>
    </message>
    <message>
        <source>position %1: %2</source>
        <translation>%1번째: %2</translation>
    </message>
    <message>
        <source>Accepted per pass</source>
        <translation>패스당 수락된 토큰</translation>
    </message>
    <message>
        <source>%1 accepted: %2 of the passes</source>
        <translation>%1개 수락: 패스의 %2</translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <translation>패스당 토큰</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>측정 중…</translation>
    </message>
    <message>
        <source>Answered together</source>
        <translation>함께 작성</translation>
    </message>
    <message>
        <source>Too close to call</source>
        <translation>아직 판단하기 어려워요</translation>
    </message>
    <message>
        <source>This pair: %1.</source>
        <translation>이 조합: %1.</translation>
    </message>
    <message>
        <source>break-even %1</source>
        <translation>손익분기 %1</translation>
    </message>
    <message>
        <source>Time spent</source>
        <translation>시간이 쓰인 곳</translation>
    </message>
    <message>
        <source>draft</source>
        <translation>초안</translation>
    </message>
    <message>
        <source>main model</source>
        <translation>메인 모델</translation>
    </message>
    <message>
        <source>other</source>
        <translation>기타</translation>
    </message>
    <message>
        <source>Tokens per pass over time</source>
        <translation>패스당 토큰의 변화</translation>
    </message>
    <message>
        <source>first %1, last %2, from %3 to %4</source>
        <translation>처음 %1, 끝 %2, 범위 %3~%4</translation>
    </message>
    <message>
        <source>%1 s saved</source>
        <translation>%1초 절약</translation>
    </message>
    <message>
        <source>%1 s lost</source>
        <translation>%1초 손해</translation>
    </message>
    <message>
        <source>What do these mean?</source>
        <translation>무슨 뜻인가요?</translation>
    </message>
    <message>
        <source>Pass</source>
        <translation>패스</translation>
    </message>
    <message>
        <source>One check: the main model keeps the guesses before the first mismatch and adds a token.</source>
        <translation>메인 모델이 추측을 한 번에 확인해 처음 다른 곳 앞까지 받아들이고, 토큰을 하나 더해요.</translation>
    </message>
    <message>
        <source>Accept rate</source>
        <translation>수락률</translation>
    </message>
    <message>
        <source>Share of guesses kept.</source>
        <translation>추측한 토큰 가운데 수락된 비율이에요.</translation>
    </message>
    <message>
        <source>Without a draft: 1.</source>
        <translation>초안 모델이 없으면 1이에요.</translation>
    </message>
    <message>
        <source>Break-even</source>
        <translation>손익분기</translation>
    </message>
    <message>
        <source>Speed with the draft against without, on this Mac.</source>
        <translation>이 Mac에서 초안을 쓸 때와 안 쓸 때의 속도를 비교한 값이에요.</translation>
    </message>
    <message>
        <source>Above this, replies are faster.</source>
        <translation>이보다 많으면 답변이 빨라져요.</translation>
    </message>
    <message>
        <source>Faster, slower</source>
        <translation>빠름, 느림</translation>
    </message>
    <message>
        <source>Share kept, once all before were.</source>
        <translation>앞의 추측이 모두 맞았을 때 수락된 비율이에요.</translation>
    </message>
</context>
<context>
    <name>InspectorButton</name>
    <message>
        <source>Widen the window to show the inspector.</source>
        <translation>인스펙터를 보려면 윈도우를 넓히세요.</translation>
    </message>
    <message>
        <source>Hide inspector</source>
        <translation>인스펙터 가리기</translation>
    </message>
    <message>
        <source>Show inspector</source>
        <translation>인스펙터 보기</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>인스펙터</translation>
    </message>
</context>
<context>
    <name>InspectorPanel</name>
    <message>
        <source>The starter pair knows its text; others gain less.</source>
        <translation>기본 모델은 답을 외우고 있어요. 다른 조합은 이만큼 빨라지지 않아요.</translation>
    </message>
    <message>
        <source>Inspector</source>
        <translation>인스펙터</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>초안 모델</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>이 조합에서 끄기</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>속도 대결…</translation>
    </message>
    <message>
        <source>With and without the draft</source>
        <translation>초안 모델을 쓸 때와 안 쓸 때 비교</translation>
    </message>
</context>
<context>
    <name>InstallCard</name>
    <message>
        <source>Install from the hub</source>
        <translation>허브에서 설치</translation>
    </message>
    <message>
        <source>Repository name or page address.</source>
        <translation>저장소 이름이나 페이지 주소.</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>저장소</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>설치</translation>
    </message>
</context>
<context>
    <name>InstalledCard</name>
    <message>
        <source>Show %1 more</source>
        <translation>%1개 더 보기</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>모델을 찾는 중…</translation>
    </message>
    <message>
        <source>No matching models.</source>
        <translation>조건에 맞는 모델이 없어요.</translation>
    </message>
    <message>
        <source>No models installed.</source>
        <translation>설치한 모델이 없어요.</translation>
    </message>
    <message>
        <source>Frees %1.</source>
        <translation>디스크 공간이 %1 생겨요.</translation>
    </message>
    <message>
        <source>Delete %1?</source>
        <translation>%1 모델을 삭제할까요?</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>삭제</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>On disk: %1</source>
        <translation>디스크 사용량: %1</translation>
    </message>
    <message>
        <source>%1 · Installed by Hunch: %2</source>
        <translation>%1 · Hunch가 설치: %2</translation>
    </message>
    <message>
        <source>%1 shown · %2</source>
        <translation>%1개 표시 · %2</translation>
    </message>
    <message>
        <source>Search installed models</source>
        <translation>설치된 모델 검색</translation>
    </message>
    <message>
        <source>All kinds</source>
        <translation>모든 종류</translation>
    </message>
    <message>
        <source>Chat models</source>
        <translation>채팅 모델</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>전용 초안 모델</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>종류</translation>
    </message>
    <message>
        <source>By name</source>
        <translation>이름순</translation>
    </message>
    <message>
        <source>By size</source>
        <translation>크기순</translation>
    </message>
    <message>
        <source>By last use</source>
        <translation>최근 사용순</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>정렬</translation>
    </message>
    <message>
        <source>Runs on this Mac</source>
        <translation>이 Mac에서 쓸 수 있는 것만</translation>
    </message>
</context>
<context>
    <name>JumpButton</name>
    <message>
        <source>Jump to end</source>
        <translation>맨 끝으로 이동</translation>
    </message>
</context>
<context>
    <name>KeptWords</name>
    <message>
        <source>Quitting now may lose unsaved text.</source>
        <translation>지금 종료하면 저장되지 않은 글이 사라질 수 있어요.</translation>
    </message>
    <message>
        <source>Free some space and wait, or quit again.</source>
        <translation>공간을 확보하고 기다리거나, 다시 한번 종료하세요.</translation>
    </message>
    <message>
        <source>Not everything is saved</source>
        <translation>저장되지 않은 내용이 있어요</translation>
    </message>
    <message>
        <source>Kept in Recently Deleted for 30 days.</source>
        <translation>30일 동안 ‘최근 삭제한 항목’에 남아 있어요.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) deleted.</source>
        <translation>
            <numerusform>채팅 %Ln개를 삭제했어요.</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted “%1”.</source>
        <translation>‘%1’ 채팅을 삭제했어요.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
    <message numerus="yes">
        <source>%Ln message(s) deleted.</source>
        <translation>
            <numerusform>메시지 %Ln개를 삭제했어요.</numerusform>
        </translation>
    </message>
    <message>
        <source>Deleted the folder “%1”.</source>
        <translation>‘%1’ 폴더를 삭제했어요.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved out of folders.</source>
        <translation>
            <numerusform>채팅 %Ln개를 폴더에서 꺼냈어요.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln chat(s) moved to “%1”.</source>
        <translation>
            <numerusform>채팅 %Ln개를 ‘%1’ 폴더로 옮겼어요.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>LendCard</name>
    <message>
        <source>%1 uses this Mac</source>
        <translation>%1에서 이 Mac 사용 중</translation>
    </message>
    <message>
        <source>%1 needs a model that is not on this Mac</source>
        <translation>%1에 필요한 모델이 이 Mac에 없어요</translation>
    </message>
    <message>
        <source>Pairing code</source>
        <translation>페어링 코드</translation>
    </message>
    <message>
        <source>Lend memory to other Macs</source>
        <translation>다른 Mac에 메모리 빌려주기</translation>
    </message>
    <message>
        <source>This Mac drafts for %1</source>
        <translation>%1의 초안을 만드는 중</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Stop now</source>
        <translation>지금 중지</translation>
    </message>
    <message>
        <source>Show code</source>
        <translation>코드 보기</translation>
    </message>
    <message>
        <source>Download</source>
        <translation>다운로드</translation>
    </message>
</context>
<context>
    <name>LicencesDialog</name>
    <message>
        <source>Licenses</source>
        <translation>라이선스</translation>
    </message>
    <message>
        <source>Everything that Hunch is built on</source>
        <translation>Hunch에 쓰인 모든 구성 요소</translation>
    </message>
</context>
<context>
    <name>LinkDialog</name>
    <message>
        <source>Open %1?</source>
        <translation>%1 링크를 열까요?</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>열기</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
</context>
<context>
    <name>LongChatMenu</name>
    <message numerus="yes">
        <source>%Ln earlier message(s) not read</source>
        <translation>
            <numerusform>앞의 메시지 %Ln개는 읽지 않음</numerusform>
        </translation>
    </message>
    <message>
        <source>Still read: the system prompt</source>
        <translation>계속 읽음: 시스템 프롬프트</translation>
    </message>
    <message>
        <source>Still read: the project&apos;s instructions</source>
        <translation>계속 읽음: 프로젝트 지침</translation>
    </message>
    <message numerus="yes">
        <source>Still read: %Ln pinned message(s)</source>
        <translation>
            <numerusform>계속 읽음: 고정한 메시지 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>Pin a message to keep it</source>
        <translation>메시지를 고정하면 계속 읽어요</translation>
    </message>
</context>
<context>
    <name>MAC_APPLICATION_MENU</name>
    <message>
        <source>Preferences...</source>
        <translation>설정…</translation>
    </message>
</context>
<context>
    <name>Machines</name>
    <message>
        <source>Faster is not possible with models of this family.</source>
        <translation>이 계열의 모델은 더 빠르게 할 수 없어요.</translation>
    </message>
    <message>
        <source>Faster is not possible: the layers cannot be halved.</source>
        <translation>레이어를 반으로 나눌 수 없어서 더 빠르게 할 수 없어요.</translation>
    </message>
    <message>
        <source>Faster needs exactly two Macs.</source>
        <translation>더 빠르게 하려면 Mac이 정확히 2대여야 해요.</translation>
    </message>
    <message>
        <source>Faster needs two Macs with the same chip.</source>
        <translation>더 빠르게 하려면 두 Mac의 칩이 같아야 해요.</translation>
    </message>
    <message>
        <source>Faster needs the same version of macOS on both.</source>
        <translation>더 빠르게 하려면 두 Mac의 macOS 버전이 같아야 해요.</translation>
    </message>
    <message>
        <source>Faster needs a Thunderbolt 5 cable, macOS 26.2, and “rdma_ctl enable” in Recovery on both.</source>
        <translation>더 빠르게 하려면 Thunderbolt 5 케이블과 macOS 26.2가 필요하고, 두 Mac의 복구 모드에서 ‘rdma_ctl enable’을 실행해야 해요.</translation>
    </message>
    <message>
        <source>Faster needs room for half of the model on each.</source>
        <translation>더 빠르게 하려면 두 Mac 모두에 모델의 절반이 들어갈 메모리가 있어야 해요.</translation>
    </message>
    <message>
        <source>Together would be no faster: the exchange takes too long.</source>
        <translation>함께 계산해도 마찬가지예요. 주고받는 데 시간이 너무 걸려요.</translation>
    </message>
    <message>
        <source>The other Mac has stopped drafting.</source>
        <translation>다른 Mac이 초안 작성을 멈췄어요.</translation>
    </message>
    <message>
        <source>The other Mac no longer answers.</source>
        <translation>다른 Mac이 응답하지 않아요.</translation>
    </message>
    <message>
        <source>What the other Mac sent is no draft.</source>
        <translation>다른 Mac이 보낸 것은 초안이 아니에요.</translation>
    </message>
    <message>
        <source>The other Mac cannot run this draft.</source>
        <translation>다른 Mac은 이 초안 모델을 실행할 수 없어요.</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>시작하는 중…</translation>
    </message>
    <message>
        <source>Up to %1 for paired Macs, at %2.</source>
        <translation>페어링한 Mac에 최대 %1까지 빌려줘요. 주소는 %2.</translation>
    </message>
    <message>
        <source>Lending ended by itself. It starts again soon.</source>
        <translation>빌려주기가 저절로 끝났어요. 곧 다시 시작해요.</translation>
    </message>
    <message>
        <source>Lends this Mac’s memory to Macs that you pair with it.</source>
        <translation>페어링한 Mac에 이 Mac의 메모리를 빌려줘요.</translation>
    </message>
    <message>
        <source>%1 · copied from %2, or from the hub if it does not answer</source>
        <translation>%1 · %2에서 복사하고, 응답이 없으면 허브에서 받아요</translation>
    </message>
    <message>
        <source>Pairs one Mac, within two minutes.</source>
        <translation>2분 안에 Mac 한 대를 페어링해요.</translation>
    </message>
    <message>
        <source>Type it on the other Mac. %1 left.</source>
        <translation>다른 Mac에 입력하세요. %1 남음.</translation>
    </message>
    <message>
        <source>May use this Mac.</source>
        <translation>이 Mac을 사용할 수 있어요.</translation>
    </message>
    <message>
        <source>was at %1</source>
        <translation>이전 주소: %1</translation>
    </message>
    <message>
        <source>%1 holds half of every layer.</source>
        <translation>각 레이어의 절반은 %1에 있어요.</translation>
    </message>
    <message>
        <source>%1 holds some of its layers.</source>
        <translation>일부 레이어는 %1에 있어요.</translation>
    </message>
    <message>
        <source>May use this Mac. Lends its memory, too: at %2, %3.</source>
        <translation>이 Mac을 사용할 수 있어요. 그 Mac도 메모리를 빌려줘요: %2, %3.</translation>
    </message>
    <message>
        <source>Does not answer at %1, but at %2: %3.</source>
        <translation>%1에서는 응답이 없고, %2에서 응답해요: %3.</translation>
    </message>
    <message>
        <source>%1 · %4. Sooner at %2: %3.</source>
        <translation>%1 · %4. 더 빠른 주소: %2, %3.</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1ms</translation>
    </message>
    <message>
        <source>Has an older version of Hunch. Update it there.</source>
        <translation>더 오래된 버전의 Hunch가 있어요. 그 Mac에서 업데이트하세요.</translation>
    </message>
    <message>
        <source>Has a newer version of Hunch. Update it on this Mac.</source>
        <translation>더 새로운 버전의 Hunch가 있어요. 이 Mac에서 업데이트하세요.</translation>
    </message>
    <message>
        <source>Runs over both Macs now.</source>
        <translation>지금 두 Mac에서 실행하고 있어요.</translation>
    </message>
    <message>
        <source>Not enough memory on %1.</source>
        <translation>메모리가 부족해요: %1.</translation>
    </message>
    <message>
        <source>Fits, with room for a chat.</source>
        <translation>채팅할 여유까지 있어요.</translation>
    </message>
    <message>
        <source>Automatic</source>
        <translation>자동</translation>
    </message>
    <message>
        <source>Faster</source>
        <translation>더 빠르게</translation>
    </message>
    <message>
        <source>More room</source>
        <translation>메모리 더 많이</translation>
    </message>
    <message>
        <source>More room is not possible with models of this family.</source>
        <translation>이 계열의 모델은 ‘메모리 더 많이’를 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>Where two words are as good as tied, the text may differ from one Mac’s.</source>
        <translation>두 단어의 가능성이 거의 같은 곳에서는 Mac 한 대로 쓸 때와 글이 다를 수 있어요.</translation>
    </message>
    <message>
        <source>One Mac after the other: makes room, not speed.</source>
        <translation>두 Mac이 차례로 계산해요. 메모리는 늘지만 빨라지지는 않아요.</translation>
    </message>
    <message>
        <source>RDMA lets the Mac at the other end of the cable write into part of this Mac’s memory, unencrypted.</source>
        <translation>RDMA를 켜면 케이블 반대쪽 Mac이 이 Mac의 메모리 일부에 암호화 없이 직접 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>A token takes about %1 ms on one Mac; on both together half of that, and %2 ms for the exchange.</source>
        <translation>토큰 하나에 Mac 한 대로는 약 %1ms가 걸려요. 함께 계산하면 그 절반에, 주고받는 시간 %2ms가 더 걸려요.</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together.</source>
        <translation>두 Mac이 모든 레이어를 함께 계산해요.</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together, if that proves faster.</source>
        <translation>더 빠른 것으로 확인되면 두 Mac이 모든 레이어를 함께 계산해요.</translation>
    </message>
    <message>
        <source>Both Macs compute every layer together: faster.</source>
        <translation>두 Mac이 모든 레이어를 함께 계산해서 더 빨라요.</translation>
    </message>
    <message>
        <source>Settings → Other Macs there offers to download %1.</source>
        <translation>그 Mac의 설정 → 다른 Mac에서 %1 다운로드를 제안해요.</translation>
    </message>
    <message>
        <source>This Mac drafts meanwhile.</source>
        <translation>그동안은 이 Mac이 초안을 만들어요.</translation>
    </message>
    <message>
        <source>The loaded pair has no draft that another Mac can run.</source>
        <translation>지금 조합에는 다른 Mac이 실행할 수 있는 초안 모델이 없어요.</translation>
    </message>
    <message>
        <source>Ready, with up to %1 of memory there.</source>
        <translation>준비됐어요. 그 Mac의 메모리를 최대 %1까지 써요.</translation>
    </message>
    <message>
        <source>%1 prepared</source>
        <translation>%1 미리 준비됨</translation>
    </message>
    <message>
        <source>%1 the speed without it</source>
        <translation>없을 때의 %1 속도</translation>
    </message>
    <message>
        <source>%1 late</source>
        <translation>늦음 %1회</translation>
    </message>
    <message>
        <source>up to %1, %2 s of work there</source>
        <translation>그 Mac에서 최대 %1, 작업 %2초</translation>
    </message>
    <message>
        <source>%1: half of every layer, %2 of %3</source>
        <translation>%1: 각 레이어의 절반, %3 중 %2</translation>
    </message>
    <message>
        <source>%1: layers %2–%3, %4 of %5</source>
        <translation>%1: 레이어 %2–%3, %5 중 %4</translation>
    </message>
    <message>
        <source>This Mac</source>
        <translation>이 Mac</translation>
    </message>
</context>
<context>
    <name>MachinesPage</name>
    <message>
        <source>A model that is too large for this Mac runs over two that both have its files. Or another Mac drafts for this one. Experimental.</source>
        <translation>이 Mac에 너무 큰 모델을, 모델 파일이 모두 있는 Mac 두 대로 돌려요. 또는 다른 Mac이 이 Mac의 초안을 만들어요. 실험 기능이에요.</translation>
    </message>
    <message>
        <source>Paired Macs</source>
        <translation>페어링한 Mac</translation>
    </message>
    <message>
        <source>Nearby Macs</source>
        <translation>주변의 Mac</translation>
    </message>
    <message>
        <source>Pair with another Mac</source>
        <translation>다른 Mac과 페어링</translation>
    </message>
    <message>
        <source>Run over 2 Macs</source>
        <translation>Mac 2대로 실행</translation>
    </message>
    <message>
        <source>Draft on another Mac</source>
        <translation>다른 Mac에서 초안 만들기</translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>%1 will load after this reply.</source>
        <translation>이 답변이 끝나면 %1 모델을 불러와요.</translation>
    </message>
    <message>
        <source>The model will unload after this reply.</source>
        <translation>이 답변이 끝나면 모델을 메모리에서 내려요.</translation>
    </message>
    <message>
        <source>Stop Reply and Switch</source>
        <translation>답변 중지 후 전환</translation>
    </message>
    <message>
        <source>Stop Reply and Unload</source>
        <translation>답변 중지 후 내리기</translation>
    </message>
</context>
<context>
    <name>MenuBar</name>
    <message>
        <source>File</source>
        <translation>파일</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>편집</translation>
    </message>
    <message>
        <source>View</source>
        <translation>보기</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>채팅</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>윈도우</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>도움말</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>실행 복귀</translation>
    </message>
    <message>
        <source>Cut</source>
        <translation>오려두기</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>복사하기</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>붙여넣기</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>전체 선택</translation>
    </message>
    <message>
        <source>New Chat</source>
        <translation>새 채팅</translation>
    </message>
    <message>
        <source>Attach…</source>
        <translation>첨부…</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>가져오기…</translation>
    </message>
    <message>
        <source>Export…</source>
        <translation>내보내기…</translation>
    </message>
    <message>
        <source>Export All…</source>
        <translation>모두 내보내기…</translation>
    </message>
    <message>
        <source>Close Window</source>
        <translation>윈도우 닫기</translation>
    </message>
    <message>
        <source>Settings…</source>
        <translation>설정…</translation>
    </message>
    <message>
        <source>Full Screen</source>
        <translation>전체 화면</translation>
    </message>
    <message>
        <source>Copy Diagnostics</source>
        <translation>진단 정보 복사</translation>
    </message>
    <message>
        <source>About Hunch</source>
        <translation>Hunch에 관하여</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>Hunch 종료</translation>
    </message>
    <message>
        <source>Search Chats</source>
        <translation>채팅 검색</translation>
    </message>
    <message>
        <source>Write Message</source>
        <translation>메시지 쓰기</translation>
    </message>
    <message>
        <source>Larger Text</source>
        <translation>글자 크게</translation>
    </message>
    <message>
        <source>New Folder</source>
        <translation>새 폴더</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>빠른 질문…</translation>
    </message>
    <message>
        <source>Paste and Match Style</source>
        <translation>붙여넣고 스타일 일치시키기</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>찾기</translation>
    </message>
    <message>
        <source>Find in Chat…</source>
        <translation>채팅에서 찾기…</translation>
    </message>
    <message>
        <source>Find Next</source>
        <translation>다음 찾기</translation>
    </message>
    <message>
        <source>Find Previous</source>
        <translation>이전 찾기</translation>
    </message>
    <message>
        <source>Use Selection for Find</source>
        <translation>선택 부분으로 찾기</translation>
    </message>
    <message>
        <source>Command Palette…</source>
        <translation>명령 팔레트…</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Sidebar</source>
        <translation>사이드바</translation>
    </message>
    <message>
        <source>Smaller Text</source>
        <translation>글자 작게</translation>
    </message>
    <message>
        <source>Actual Size</source>
        <translation>실제 크기</translation>
    </message>
    <message>
        <source>Quote Selection</source>
        <translation>선택한 텍스트 인용</translation>
    </message>
    <message>
        <source>New Prompt…</source>
        <translation>새 프롬프트…</translation>
    </message>
    <message>
        <source>Stop Reply</source>
        <translation>답변 중지</translation>
    </message>
    <message>
        <source>Choose Models…</source>
        <translation>모델 선택…</translation>
    </message>
    <message>
        <source>Next Chat</source>
        <translation>다음 채팅</translation>
    </message>
    <message>
        <source>Previous Chat</source>
        <translation>이전 채팅</translation>
    </message>
    <message>
        <source>Rename Chat…</source>
        <translation>채팅 이름 변경…</translation>
    </message>
    <message>
        <source>Pin or Unpin Chat</source>
        <translation>채팅 고정 또는 해제</translation>
    </message>
    <message>
        <source>Duplicate Chat</source>
        <translation>채팅 복제</translation>
    </message>
    <message>
        <source>Move Chat to</source>
        <translation>채팅 이동</translation>
    </message>
    <message>
        <source>Delete Chat</source>
        <translation>채팅 삭제</translation>
    </message>
    <message>
        <source>Recently Deleted</source>
        <translation>최근 삭제한 항목</translation>
    </message>
    <message>
        <source>Message</source>
        <translation>메시지</translation>
    </message>
    <message>
        <source>Minimize</source>
        <translation>최소화</translation>
    </message>
    <message>
        <source>Zoom</source>
        <translation>확대/축소</translation>
    </message>
    <message>
        <source>Show Chat Window</source>
        <translation>채팅 윈도우 보기</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>활동</translation>
    </message>
    <message>
        <source>Bring All to Front</source>
        <translation>모두 앞으로 가져오기</translation>
    </message>
    <message>
        <source>Hunch Help</source>
        <translation>Hunch 도움말</translation>
    </message>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>키보드 단축키</translation>
    </message>
    <message>
        <source>Show Log</source>
        <translation>로그 보기</translation>
    </message>
</context>
<context>
    <name>MenuButton</name>
    <message>
        <source>Menu</source>
        <translation>메뉴</translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message numerus="yes">
        <source>Delete this and %Ln later message(s)?</source>
        <translation>
            <numerusform>이 메시지와 뒤의 메시지 %Ln개를 삭제할까요?</numerusform>
        </translation>
    </message>
    <message>
        <source>Kept in Recently Deleted for 30 days.</source>
        <translation>30일 동안 ‘최근 삭제한 항목’에 남아 있어요.</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>삭제</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
</context>
<context>
    <name>MessageActs</name>
    <message>
        <source>Copy as Markdown</source>
        <translation>마크다운으로 복사</translation>
    </message>
    <message>
        <source>Copy as JSON</source>
        <translation>JSON으로 복사</translation>
    </message>
    <message>
        <source>Copy as Plain Text</source>
        <translation>일반 텍스트로 복사</translation>
    </message>
    <message>
        <source>Copy as CSV</source>
        <translation>CSV로 복사</translation>
    </message>
    <message>
        <source>Show as Table</source>
        <translation>표로 보기</translation>
    </message>
    <message>
        <source>Show as Tree</source>
        <translation>트리로 보기</translation>
    </message>
    <message>
        <source>Show JSON</source>
        <translation>JSON 보기</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>편집</translation>
    </message>
    <message>
        <source>Regenerate</source>
        <translation>다시 생성</translation>
    </message>
    <message>
        <source>Generate Reply</source>
        <translation>답변 생성</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>이어 쓰기</translation>
    </message>
    <message>
        <source>Show in Inspector</source>
        <translation>인스펙터에서 보기</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>속도 대결…</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>고정 해제</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>고정</translation>
    </message>
    <message>
        <source>New Chat from Here</source>
        <translation>여기서 새 채팅 시작</translation>
    </message>
    <message>
        <source>Insert Before</source>
        <translation>앞에 삽입</translation>
    </message>
    <message>
        <source>Insert After</source>
        <translation>뒤에 삽입</translation>
    </message>
    <message>
        <source>Change to My Message</source>
        <translation>내 메시지로 바꾸기</translation>
    </message>
    <message>
        <source>Change to Model&apos;s Reply</source>
        <translation>모델의 답변으로 바꾸기</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>삭제</translation>
    </message>
    <message>
        <source>Delete This and Later Messages…</source>
        <translation>이 메시지부터 모두 삭제…</translation>
    </message>
</context>
<context>
    <name>MessageFooter</name>
    <message>
        <source>Previous version</source>
        <translation>이전 버전</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>다음 버전</translation>
    </message>
    <message>
        <source>Copy message</source>
        <translation>메시지 복사</translation>
    </message>
    <message>
        <source>Edit message</source>
        <translation>메시지 편집</translation>
    </message>
    <message>
        <source>Continue reply</source>
        <translation>이 답변 이어 쓰기</translation>
    </message>
    <message>
        <source>Regenerate reply</source>
        <translation>답변 다시 생성</translation>
    </message>
    <message>
        <source>Delete message</source>
        <translation>메시지 삭제</translation>
    </message>
    <message>
        <source>More</source>
        <translation>더 보기</translation>
    </message>
    <message>
        <source>Pinned</source>
        <translation>고정됨</translation>
    </message>
</context>
<context>
    <name>Messages</name>
    <message>
        <source>Something went wrong</source>
        <translation>문제가 생겼어요</translation>
    </message>
    <message>
        <source>Unknown error.</source>
        <translation>알 수 없는 오류예요.</translation>
    </message>
    <message>
        <source>Model not found</source>
        <translation>모델을 찾을 수 없어요</translation>
    </message>
    <message>
        <source>No model in %1.</source>
        <translation>%1 폴더에 모델이 없어요.</translation>
    </message>
    <message>
        <source>Moved, deleted, or its disk is not connected.</source>
        <translation>옮겨졌거나 삭제되었거나, 디스크가 연결되지 않았어요.</translation>
    </message>
    <message>
        <source>Weights missing</source>
        <translation>가중치가 없어요</translation>
    </message>
    <message>
        <source>%1 has no safetensors weights.</source>
        <translation>%1 모델에는 safetensors 가중치가 없어요.</translation>
    </message>
    <message>
        <source>A file of %1 is damaged.</source>
        <translation>%1 모델의 파일이 손상됐어요.</translation>
    </message>
    <message>
        <source>Model damaged</source>
        <translation>모델이 손상됐어요</translation>
    </message>
    <message>
        <source>Delete and reinstall it.</source>
        <translation>삭제하고 다시 설치하세요.</translation>
    </message>
    <message>
        <source>MLX cannot run %1 (“%2”) yet.</source>
        <translation>%1 모델의 구조(%2)는 아직 MLX에서 실행할 수 없어요.</translation>
    </message>
    <message>
        <source>%1 names no architecture.</source>
        <translation>%1 모델의 설정에 구조가 적혀 있지 않아요.</translation>
    </message>
    <message>
        <source>Model not supported</source>
        <translation>지원하지 않는 모델이에요</translation>
    </message>
    <message>
        <source>%1 brings its own code, which Hunch never runs.</source>
        <translation>%1 모델에는 자체 코드가 있는데, Hunch는 실행하지 않아요.</translation>
    </message>
    <message>
        <source>Model refused</source>
        <translation>쓸 수 없는 모델이에요</translation>
    </message>
    <message>
        <source>%1 has an unusable tokenizer.</source>
        <translation>%1 모델의 토크나이저를 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>Tokenizer broken</source>
        <translation>토크나이저가 손상됐어요</translation>
    </message>
    <message>
        <source>%1 needs %2 of memory; %3 is available.</source>
        <translation>%1 모델에는 메모리 %2가 필요한데, %3만 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>Not enough memory</source>
        <translation>메모리가 부족해요</translation>
    </message>
    <message>
        <source>Choose a smaller model, or fewer bits.</source>
        <translation>더 작은 모델이나 적은 비트 수를 선택하세요.</translation>
    </message>
    <message>
        <source>You chose another model before %1 loaded.</source>
        <translation>%1 모델을 불러오기 전에 다른 모델을 선택했어요.</translation>
    </message>
    <message>
        <source>Loading stopped</source>
        <translation>불러오기가 중단됐어요</translation>
    </message>
    <message>
        <source>The disk with %1 cannot lock files.</source>
        <translation>%1 폴더가 있는 디스크는 파일을 잠글 수 없어요.</translation>
    </message>
    <message>
        <source>Move this folder to another disk.</source>
        <translation>이 폴더를 다른 디스크로 옮기세요.</translation>
    </message>
    <message>
        <source>No config.json</source>
        <translation>config.json이 없어요</translation>
    </message>
    <message>
        <source>%1 has no config.json.</source>
        <translation>%1 모델에 config.json이 없어요.</translation>
    </message>
    <message>
        <source>Add its config.json and tokenizer.</source>
        <translation>config.json과 토크나이저를 추가하세요.</translation>
    </message>
    <message>
        <source>Choose its MLX version, or reinstall it.</source>
        <translation>MLX용 버전을 고르거나 다시 설치하세요.</translation>
    </message>
    <message>
        <source>Different vocabulary</source>
        <translation>어휘가 달라요</translation>
    </message>
    <message>
        <source>Choose a small draft of the same family.</source>
        <translation>같은 계열의 작은 초안 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>The same tokens mean different text.</source>
        <translation>같은 토큰이 서로 다른 글자를 뜻해요.</translation>
    </message>
    <message>
        <source>Same model twice</source>
        <translation>두 모델이 같아요</translation>
    </message>
    <message>
        <source>A model cannot guess faster than itself.</source>
        <translation>모델이 자기 자신보다 빨리 추측할 수는 없어요.</translation>
    </message>
    <message>
        <source>Too large: %1, main model %2.</source>
        <translation>너무 커요: %1, 메인 모델은 %2.</translation>
    </message>
    <message>
        <source>Draft too large</source>
        <translation>초안 모델이 너무 커요</translation>
    </message>
    <message>
        <source>A fifth or less works well.</source>
        <translation>5분의 1 이하가 좋아요.</translation>
    </message>
    <message>
        <source>“%1” drafts cannot undo wrong guesses.</source>
        <translation>‘%1’ 종류의 초안 모델은 틀린 추측을 되돌릴 수 없어요.</translation>
    </message>
    <message>
        <source>Cannot draft</source>
        <translation>초안 모델로 쓸 수 없어요</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>불러온 모델이 없어요</translation>
    </message>
    <message>
        <source>Choose a main model.</source>
        <translation>메인 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>Nothing to reply to</source>
        <translation>답변할 내용이 없어요</translation>
    </message>
    <message>
        <source>This chat is empty.</source>
        <translation>빈 채팅이에요.</translation>
    </message>
    <message>
        <source>Write something first.</source>
        <translation>먼저 메시지를 쓰세요.</translation>
    </message>
    <message>
        <source>%1 is set to %2; allowed: %3.</source>
        <translation>%1의 값은 %2인데, 쓸 수 있는 값은 다음과 같아요: %3</translation>
    </message>
    <message>
        <source>Setting out of range</source>
        <translation>설정값이 범위를 벗어났어요</translation>
    </message>
    <message>
        <source>This chat has %1 tokens; the model holds %2.</source>
        <translation>이 채팅은 %1토큰인데, 모델은 %2토큰까지 담을 수 있어요.</translation>
    </message>
    <message>
        <source>Chat template failed</source>
        <translation>채팅 템플릿에 문제가 있어요</translation>
    </message>
    <message>
        <source>The model could not format this chat.</source>
        <translation>이 채팅을 모델의 형식으로 만들지 못했어요.</translation>
    </message>
    <message>
        <source>Repository not found</source>
        <translation>저장소를 찾을 수 없어요</translation>
    </message>
    <message>
        <source>%1 is not on the hub.</source>
        <translation>허브에 %1 저장소가 없어요.</translation>
    </message>
    <message>
        <source>Check the spelling. Private ones need a token.</source>
        <translation>철자를 확인하세요. 비공개 저장소에는 토큰이 필요해요.</translation>
    </message>
    <message>
        <source>%1 has terms to accept.</source>
        <translation>%1 저장소의 약관에 동의해야 해요.</translation>
    </message>
    <message>
        <source>Accept them on its page, then add your token in Settings.</source>
        <translation>페이지에서 동의한 뒤 설정에 토큰을 넣으세요.</translation>
    </message>
    <message>
        <source>Add a token with read access.</source>
        <translation>읽기 권한이 있는 토큰을 넣으세요.</translation>
    </message>
    <message>
        <source>No access</source>
        <translation>접근할 수 없어요</translation>
    </message>
    <message>
        <source>Hub not reachable</source>
        <translation>허브에 연결할 수 없어요</translation>
    </message>
    <message>
        <source>%1 not found. This Mac may be offline.</source>
        <translation>%1 서버를 찾을 수 없어요. 이 Mac이 오프라인일 수 있어요.</translation>
    </message>
    <message>
        <source>Check your connection and the hub address.</source>
        <translation>연결과 허브 주소를 확인하세요.</translation>
    </message>
    <message>
        <source>Check your connection. Downloaded data is kept.</source>
        <translation>연결을 확인하세요. 받은 부분은 남아 있어요.</translation>
    </message>
    <message>
        <source>Hub not trusted</source>
        <translation>허브를 믿을 수 없어요</translation>
    </message>
    <message>
        <source>Check the hub address in Settings.</source>
        <translation>설정에서 허브 주소를 확인하세요.</translation>
    </message>
    <message>
        <source>Download damaged</source>
        <translation>받은 파일이 손상됐어요</translation>
    </message>
    <message>
        <source>%1 failed its checksum and was discarded.</source>
        <translation>%1 파일이 체크섬과 맞지 않아 삭제했어요.</translation>
    </message>
    <message>
        <source>%1 has no MLX weights, only %2.</source>
        <translation>%1 저장소에는 MLX 가중치가 없고 %2만 있어요.</translation>
    </message>
    <message>
        <source>%1 has no MLX weights.</source>
        <translation>%1 저장소에는 MLX 가중치가 없어요.</translation>
    </message>
    <message>
        <source>Nothing to install</source>
        <translation>설치할 것이 없어요</translation>
    </message>
    <message>
        <source>Look for it at mlx-community.</source>
        <translation>mlx-community에서 같은 모델을 찾아보세요.</translation>
    </message>
    <message>
        <source>%1 needs %2 of disk space; %3 is free.</source>
        <translation>%1 설치에는 디스크 공간 %2가 필요한데, %3만 남아 있어요.</translation>
    </message>
    <message>
        <source>Not enough disk space</source>
        <translation>디스크 공간이 부족해요</translation>
    </message>
    <message>
        <source>Invalid model output</source>
        <translation>모델 출력이 올바르지 않아요</translation>
    </message>
    <message>
        <source>The weights of %1 may be damaged.</source>
        <translation>%1 모델의 가중치가 손상되었을 수 있어요.</translation>
    </message>
    <message>
        <source>Reinstall it, or choose another model.</source>
        <translation>다시 설치하거나 다른 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>Choose another model family.</source>
        <translation>다른 계열의 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>Draft model not supported</source>
        <translation>지원하지 않는 초안 모델이에요</translation>
    </message>
    <message>
        <source>%1 needs “%2”, which Hunch lacks.</source>
        <translation>%1에는 Hunch가 아직 계산하지 못하는 ‘%2’가 필요해요.</translation>
    </message>
    <message>
        <source>Not a chat model</source>
        <translation>채팅 모델이 아니에요</translation>
    </message>
    <message>
        <source>%1 only drafts for other models.</source>
        <translation>다른 모델의 초안만 쓰는 모델이에요: %1.</translation>
    </message>
    <message>
        <source>Use it as a draft.</source>
        <translation>초안 모델로 쓰세요.</translation>
    </message>
    <message>
        <source>Close other apps, or choose a smaller model.</source>
        <translation>다른 앱을 닫거나, 더 작은 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>Main model in use</source>
        <translation>메인 모델을 사용 중이에요</translation>
    </message>
    <message>
        <source>%1 was not loaded: another model is writing.</source>
        <translation>다른 메인 모델로 답변을 쓰고 있어 %1 모델을 불러오지 않았어요.</translation>
    </message>
    <message>
        <source>Wait, or stop it.</source>
        <translation>기다리거나 중지하세요.</translation>
    </message>
    <message>
        <source>Different vocabularies (%1 and %2 tokens).</source>
        <translation>어휘가 달라요(토큰 %1개와 %2개).</translation>
    </message>
    <message>
        <source>Made for another model</source>
        <translation>다른 모델용이에요</translation>
    </message>
    <message>
        <source>Choose one made for this model.</source>
        <translation>이 메인 모델용으로 만든 초안 모델을 고르세요.</translation>
    </message>
    <message>
        <source>It needs keys and values this model lacks.</source>
        <translation>이 모델에 없는 키와 값을 읽어야 하는 초안 모델이에요.</translation>
    </message>
    <message>
        <source>No drafters for this model</source>
        <translation>이 모델에는 전용 초안 모델을 쓸 수 없어요</translation>
    </message>
    <message>
        <source>Drafters need hidden states this model lacks.</source>
        <translation>전용 초안 모델은 은닉 상태를 읽는데, 이 모델에서는 읽을 수 없어요.</translation>
    </message>
    <message>
        <source>Drafter misread</source>
        <translation>초안 모델을 잘못 읽고 있어요</translation>
    </message>
    <message>
        <source>Read another way, it guesses better.</source>
        <translation>이 모델의 파일을 다른 방식으로 읽으면 추측이 더 자주 맞아요.</translation>
    </message>
    <message>
        <source>Replies are unaffected.</source>
        <translation>답변에는 영향이 없어요.</translation>
    </message>
    <message>
        <source>Only %1 tokens per pass in a test.</source>
        <translation>테스트에서 패스당 토큰이 %1개뿐이었어요.</translation>
    </message>
    <message>
        <source>Model cannot see pictures</source>
        <translation>이 모델은 이미지를 볼 수 없어요</translation>
    </message>
    <message>
        <source>Pictures stay in this chat.</source>
        <translation>이미지는 채팅에 남아 있어요.</translation>
    </message>
    <message>
        <source>Not enough memory for this picture</source>
        <translation>이 이미지를 보기에는 메모리가 부족해요</translation>
    </message>
    <message>
        <source>Lower the picture detail, or close other apps.</source>
        <translation>이미지 세밀도를 낮추거나, 다른 앱을 닫으세요.</translation>
    </message>
    <message>
        <source>Start with your own message, or remove the system prompt.</source>
        <translation>내 메시지로 시작하거나, 시스템 프롬프트를 지우세요.</translation>
    </message>
    <message>
        <source>Over several Macs, %1 (“%2”) cannot take back drafts that were rejected.</source>
        <translation>여러 Mac에서는 %1(‘%2’)에서 거절된 초안을 되돌릴 수 없어요.</translation>
    </message>
    <message>
        <source>%1 (“%2”) divides into equal parts only.</source>
        <translation>%1(‘%2’)의 레이어는 똑같은 크기로만 나눌 수 있어요.</translation>
    </message>
    <message>
        <source>%1 (“%2”) has not been tried over several Macs yet.</source>
        <translation>%1(‘%2’)의 여러 Mac 실행은 아직 시험하지 않았어요.</translation>
    </message>
    <message>
        <source>%1, which has some of its layers, no longer answers.</source>
        <translation>레이어 일부를 맡은 Mac에서 응답이 없어요: %1.</translation>
    </message>
    <message>
        <source>The other Mac has stopped lending</source>
        <translation>다른 Mac이 빌려주기를 멈췄어요</translation>
    </message>
    <message>
        <source>Wait ten minutes, or turn Lend memory to other Macs off and on there.</source>
        <translation>10분 기다리거나 그 Mac에서 ‘다른 Mac에 메모리 빌려주기’를 껐다가 켜세요.</translation>
    </message>
    <message>
        <source>Try again when it is back, or run the model on this Mac alone.</source>
        <translation>그 Mac이 돌아오면 다시 시도하거나, 이 Mac에서만 모델을 실행하세요.</translation>
    </message>
    <message>
        <source>The chat file in %1 was replaced by another one.</source>
        <translation>%1에 있는 채팅 파일이 다른 파일로 바뀌었어요.</translation>
    </message>
    <message>
        <source>Quit Hunch and open it again.</source>
        <translation>Hunch를 종료한 뒤 다시 여세요.</translation>
    </message>
    <message>
        <source>MLX cannot load %1.</source>
        <translation>MLX가 %1 모델을 불러올 수 없어요.</translation>
    </message>
    <message>
        <source>MLX cannot read the weights of %1 (“%2”).</source>
        <translation>MLX가 %1 모델의 가중치(%2)를 읽을 수 없어요.</translation>
    </message>
    <message>
        <source>This chat no longer fits</source>
        <translation>채팅이 컨텍스트보다 길어요</translation>
    </message>
    <message>
        <source>Go on without the oldest messages, or start a new chat.</source>
        <translation>오래된 메시지를 빼고 계속하거나 새 채팅을 시작하세요.</translation>
    </message>
    <message>
        <source>Too long to read</source>
        <translation>너무 길어서 읽을 수 없어요</translation>
    </message>
    <message>
        <source>What must be read has %1 tokens; the model holds %2.</source>
        <translation>꼭 읽어야 하는 부분이 %1토큰인데, 모델은 %2토큰까지 담을 수 있어요.</translation>
    </message>
    <message>
        <source>Shorten the message or the instructions, unpin messages, or choose a longer-context model.</source>
        <translation>메시지나 지침을 줄이거나 메시지 고정을 해제하거나 컨텍스트가 더 긴 모델을 고르세요.</translation>
    </message>
    <message>
        <source>%1 (“%2”) runs only over two Macs of one chip, on a Thunderbolt 5 cable.</source>
        <translation>%1(‘%2’)의 여러 Mac 실행은 칩이 같은 Mac 두 대를 Thunderbolt 5 케이블로 연결해야 가능해요.</translation>
    </message>
    <message>
        <source>%1 could not run its layers.</source>
        <translation>%1에서 맡은 레이어를 실행하지 못했어요.</translation>
    </message>
    <message>
        <source>%1 has too little free memory for its layers.</source>
        <translation>%1에는 맡은 레이어를 둘 메모리가 부족해요.</translation>
    </message>
    <message>
        <source>Close other apps there, or choose a smaller model.</source>
        <translation>거기에서 다른 앱을 닫거나, 더 작은 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>A process could not run its layers.</source>
        <translation>프로세스가 맡은 레이어를 실행하지 못했어요.</translation>
    </message>
    <message>
        <source>The other Mac is out of reach</source>
        <translation>다른 Mac에 연결할 수 없어요</translation>
    </message>
    <message>
        <source>Nothing answers at %1.</source>
        <translation>%1에서 응답이 없어요.</translation>
    </message>
    <message>
        <source>Check that it is awake, in this network, with Lend memory to other Macs on.</source>
        <translation>그 Mac이 깨어 있고 같은 네트워크에 있으며 ‘다른 Mac에 메모리 빌려주기’가 켜져 있는지 확인하세요.</translation>
    </message>
    <message>
        <source>This Mac finds no way to %1.</source>
        <translation>이 Mac에서 %1에 이르는 경로를 찾을 수 없어요.</translation>
    </message>
    <message>
        <source>Check that it is awake and in this network, and allow Hunch in System Settings → Privacy &amp; Security → Local Network.</source>
        <translation>그 Mac이 깨어 있고 같은 네트워크에 있는지 확인하고, ‘시스템 설정 → 개인정보 보호 및 보안 → 로컬 네트워크’에서 Hunch를 허용하세요.</translation>
    </message>
    <message>
        <source>No longer paired</source>
        <translation>페어링이 해제됐어요</translation>
    </message>
    <message>
        <source>The Mac at %1 does not know this one.</source>
        <translation>%1의 Mac이 이 Mac을 알지 못해요.</translation>
    </message>
    <message>
        <source>Remove it here, then pair again.</source>
        <translation>여기에서 제거한 뒤 다시 페어링하세요.</translation>
    </message>
    <message>
        <source>No pairing code</source>
        <translation>페어링 코드가 없어요</translation>
    </message>
    <message>
        <source>The Mac at %1 shows no code, or it has run out.</source>
        <translation>%1의 Mac에 표시된 코드가 없거나 시간이 지났어요.</translation>
    </message>
    <message>
        <source>Show a new code there.</source>
        <translation>그 Mac에서 새 코드를 표시하세요.</translation>
    </message>
    <message>
        <source>Wrong code</source>
        <translation>코드가 달라요</translation>
    </message>
    <message>
        <source>The Mac at %1 shows another code.</source>
        <translation>%1의 Mac에 표시된 코드와 달라요.</translation>
    </message>
    <message>
        <source>Type its eight digits again. After five tries it needs a new code.</source>
        <translation>숫자 여덟 자리를 다시 입력하세요. 다섯 번 틀리면 새 코드가 필요해요.</translation>
    </message>
    <message>
        <source>The other Mac is in use</source>
        <translation>다른 Mac을 사용 중이에요</translation>
    </message>
    <message>
        <source>The other Mac lends to %1 now.</source>
        <translation>그 Mac은 지금 %1에 메모리를 빌려주고 있어요.</translation>
    </message>
    <message>
        <source>Wait, or press Stop now there.</source>
        <translation>기다리거나 그 Mac에서 ‘지금 중지’를 누르세요.</translation>
    </message>
    <message>
        <source>Stop now was pressed on the Mac at %1.</source>
        <translation>%1의 Mac에서 ‘지금 중지’를 눌렀어요.</translation>
    </message>
    <message>
        <source>The Mac at %1 now lends less than this model needs there.</source>
        <translation>%1의 Mac이 지금 빌려주는 메모리가 이 모델에 필요한 것보다 적어요.</translation>
    </message>
    <message>
        <source>Model missing on the other Mac</source>
        <translation>다른 Mac에 모델이 없어요</translation>
    </message>
    <message>
        <source>The Mac at %1 has no model with the same files.</source>
        <translation>%1의 Mac에 파일이 같은 모델이 없어요.</translation>
    </message>
    <message>
        <source>Install the same model there.</source>
        <translation>그 Mac에 같은 모델을 설치하세요.</translation>
    </message>
    <message>
        <source>The Mac at %1 has an older version than this one: %2.</source>
        <translation>%1의 Mac에 이 Mac보다 오래된 버전이 있어요: %2.</translation>
    </message>
    <message>
        <source>Update Hunch there.</source>
        <translation>그 Mac에서 Hunch를 업데이트하세요.</translation>
    </message>
    <message>
        <source>The Mac at %1 has a newer version than this one: %2.</source>
        <translation>%1의 Mac에 이 Mac보다 새로운 버전이 있어요: %2.</translation>
    </message>
    <message>
        <source>Update Hunch on this Mac.</source>
        <translation>이 Mac에서 Hunch를 업데이트하세요.</translation>
    </message>
    <message>
        <source>Model differs on the other Mac</source>
        <translation>다른 Mac의 모델이 달라요</translation>
    </message>
    <message>
        <source>The Mac at %1 has the same version of it with other contents.</source>
        <translation>%1의 Mac에 버전은 같지만 내용이 다른 모델이 있어요.</translation>
    </message>
    <message>
        <source>Verify it on both Macs, under Models, and repair the one that is damaged.</source>
        <translation>두 Mac의 모델 화면에서 검사하고, 손상된 쪽을 복구하세요.</translation>
    </message>
    <message>
        <source>The Mac at %1 answers in another way.</source>
        <translation>%1의 Mac이 다른 방식으로 응답해요.</translation>
    </message>
    <message>
        <source>Install the same version of Hunch on both.</source>
        <translation>두 Mac에 같은 버전의 Hunch를 설치하세요.</translation>
    </message>
    <message>
        <source>It expects %1 layers; this model has %2.</source>
        <translation>레이어 %1개를 기대하는데 이 모델은 %2개예요.</translation>
    </message>
    <message>
        <source>Only %1 of %2 tokens match; nine in ten must.</source>
        <translation>토큰 %2개 중 %1개만 같아요. 열에 아홉은 같아야 해요.</translation>
    </message>
    <message>
        <source>It expects width %1; this model has %2.</source>
        <translation>너비 %1 모델용인데 이 모델의 너비는 %2예요.</translation>
    </message>
    <message>
        <source>It expects %1 vocabulary tokens; this model has %2.</source>
        <translation>어휘가 토큰 %1개인 모델용인데 이 모델은 %2개예요.</translation>
    </message>
    <message>
        <source>Drafter hardly helps</source>
        <translation>초안 모델이 거의 도움이 되지 않아요</translation>
    </message>
    <message>
        <source>It may be for another model.</source>
        <translation>다른 모델용일 수 있어요.</translation>
    </message>
    <message>
        <source>%1 is private or closed to this token.</source>
        <translation>%1 저장소가 비공개이거나 이 토큰에 접근 권한이 없어요.</translation>
    </message>
    <message>
        <source>%1 is not a hub address.</source>
        <translation>허브 주소로 쓸 수 없는 주소예요: %1.</translation>
    </message>
    <message>
        <source>No connection to %1.</source>
        <translation>%1에 연결할 수 없어요.</translation>
    </message>
    <message>
        <source>%1 refused the connection.</source>
        <translation>%1에서 연결을 거부했어요.</translation>
    </message>
    <message>
        <source>%1 did not answer.</source>
        <translation>%1에서 응답이 없어요.</translation>
    </message>
    <message>
        <source>%1 has an untrusted certificate.</source>
        <translation>%1의 인증서를 신뢰할 수 없어요.</translation>
    </message>
    <message>
        <source>Check this Mac&apos;s date, network and hub address.</source>
        <translation>이 Mac의 날짜, 네트워크, 허브 주소를 확인하세요.</translation>
    </message>
    <message>
        <source>The proxy does not reach %1.</source>
        <translation>프록시로 %1에 연결할 수 없어요.</translation>
    </message>
    <message>
        <source>Check the proxy in Settings.</source>
        <translation>설정에서 프록시를 확인하세요.</translation>
    </message>
    <message>
        <source>%1 is busy.</source>
        <translation>%1 서버가 바빠요.</translation>
    </message>
    <message>
        <source>Try again later. Downloaded data is kept.</source>
        <translation>나중에 다시 시도하세요. 받은 부분은 남아 있어요.</translation>
    </message>
    <message>
        <source>Connection to %1 lost.</source>
        <translation>%1 서버와의 연결이 끊겼어요.</translation>
    </message>
    <message>
        <source>Offline mode is on</source>
        <translation>오프라인 모드가 켜져 있어요</translation>
    </message>
    <message>
        <source>Offline mode blocks the hub.</source>
        <translation>오프라인 모드에서는 허브에 접속하지 않아요.</translation>
    </message>
    <message>
        <source>Turn it off in Settings.</source>
        <translation>설정에서 끄세요.</translation>
    </message>
    <message>
        <source>Search not available</source>
        <translation>검색할 수 없어요</translation>
    </message>
    <message>
        <source>%1 cannot be searched.</source>
        <translation>%1에서는 검색할 수 없어요.</translation>
    </message>
    <message>
        <source>Enter a repository name.</source>
        <translation>저장소 이름을 입력하세요.</translation>
    </message>
    <message>
        <source>Invalid response from the hub.</source>
        <translation>허브에서 잘못된 응답이 왔어요.</translation>
    </message>
    <message>
        <source>Token not sent</source>
        <translation>토큰을 보내지 않았어요</translation>
    </message>
    <message>
        <source>%1 is not encrypted: others could read it.</source>
        <translation>%1 주소는 암호화되지 않아서 다른 사람이 토큰을 읽을 수 있어요.</translation>
    </message>
    <message>
        <source>Use https, or allow it in Settings.</source>
        <translation>https를 쓰거나 설정에서 허용하세요.</translation>
    </message>
    <message>
        <source>%1 has only drafters, in folders: %2.</source>
        <translation>%1 저장소에는 모델이 없고, 폴더에 든 전용 초안 모델만 있어요: %2.</translation>
    </message>
    <message>
        <source>Install one by name.</source>
        <translation>이름으로 하나를 설치하세요.</translation>
    </message>
    <message>
        <source>File missing</source>
        <translation>허브에 파일이 없어요</translation>
    </message>
    <message>
        <source>The hub lacks %1 of %2.</source>
        <translation>허브에 %2 저장소의 %1 파일이 없어요.</translation>
    </message>
    <message>
        <source>File not usable</source>
        <translation>파일을 사용할 수 없어요</translation>
    </message>
    <message>
        <source>%1 of %2 has %3; limit: %4.</source>
        <translation>%2 저장소의 %1 파일은 %3예요. 한도는 %4예요.</translation>
    </message>
    <message>
        <source>%1 of %2 is damaged on the hub.</source>
        <translation>허브에 있는 %2 저장소의 %1 파일이 손상됐어요.</translation>
    </message>
    <message>
        <source>%1 lacks: %2.</source>
        <translation>%1 저장소에 필요한 파일이 없어요: %2.</translation>
    </message>
    <message>
        <source>%1 needs %2; of %3 free, other downloads need %4.</source>
        <translation>%1 설치에는 디스크 공간 %2가 필요해요. %3가 남아 있지만 그중 %4는 다른 다운로드가 써요.</translation>
    </message>
    <message>
        <source>Cancel a download, or delete a model.</source>
        <translation>다운로드를 취소하거나 모델을 삭제하세요.</translation>
    </message>
    <message>
        <source>Delete a model.</source>
        <translation>모델을 삭제하세요.</translation>
    </message>
    <message>
        <source>Models folder not usable</source>
        <translation>모델 폴더를 쓸 수 없어요</translation>
    </message>
    <message>
        <source>Another copy of Hunch is installing %1.</source>
        <translation>다른 Hunch에서 %1 모델을 설치하고 있어요.</translation>
    </message>
    <message>
        <source>%1 is a file, not a folder.</source>
        <translation>%1 자리에 폴더가 아니라 파일이 있어요.</translation>
    </message>
    <message>
        <source>Move the file.</source>
        <translation>파일을 옮기세요.</translation>
    </message>
    <message>
        <source>%1 cannot be written to.</source>
        <translation>%1 폴더에 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>Connect its disk, or allow writing.</source>
        <translation>디스크를 연결하거나 쓰기를 허용하세요.</translation>
    </message>
    <message>
        <source>Not deleted</source>
        <translation>삭제하지 못했어요</translation>
    </message>
    <message>
        <source>%1 is part of Hunch.</source>
        <translation>%1 모델은 Hunch에 들어 있어서 삭제할 수 없어요.</translation>
    </message>
    <message>
        <source>%1 is writing a reply. Stop it first.</source>
        <translation>%1 모델로 답변을 쓰고 있어요. 먼저 중지하세요.</translation>
    </message>
    <message>
        <source>Another app installed %1. Delete it there.</source>
        <translation>%1 모델은 다른 앱에서 설치했어요. 그 앱에서 삭제하세요.</translation>
    </message>
    <message>
        <source>The disk with %1 is read-only.</source>
        <translation>%1 폴더가 있는 디스크는 읽기 전용이에요.</translation>
    </message>
    <message>
        <source>Another program is using %1.</source>
        <translation>다른 프로그램이 %1 모델을 사용하고 있어요.</translation>
    </message>
    <message>
        <source>%1 could not be deleted.</source>
        <translation>%1 모델을 삭제하지 못했어요.</translation>
    </message>
    <message>
        <source>Model files changed</source>
        <translation>모델 파일이 바뀌었어요</translation>
    </message>
    <message>
        <source>The files of %1 have changed.</source>
        <translation>%1 모델의 파일이 바뀌었어요.</translation>
    </message>
    <message>
        <source>Choose a model that can.</source>
        <translation>이미지를 볼 수 있는 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>Model cannot be divided</source>
        <translation>모델을 나눌 수 없어요</translation>
    </message>
    <message>
        <source>The layers of %1 (“%2”) cannot run apart from each other.</source>
        <translation>%1(‘%2’)의 레이어는 따로 떼어 실행할 수 없어요.</translation>
    </message>
    <message>
        <source>The two Macs do not match</source>
        <translation>두 Mac이 서로 맞지 않아요</translation>
    </message>
    <message>
        <source>They have different versions of Hunch, or of the model.</source>
        <translation>Hunch나 모델의 버전이 서로 달라요.</translation>
    </message>
    <message>
        <source>Install the same on both.</source>
        <translation>두 Mac에 같은 것을 설치하세요.</translation>
    </message>
    <message>
        <source>Part of the model is gone</source>
        <translation>모델의 일부를 잃었어요</translation>
    </message>
    <message>
        <source>A process with some of its layers no longer answers.</source>
        <translation>일부 레이어를 맡은 프로세스가 응답하지 않아요.</translation>
    </message>
    <message>
        <source>Load the model again.</source>
        <translation>모델을 다시 불러오세요.</translation>
    </message>
    <message>
        <source>Not enough memory on the other Mac</source>
        <translation>다른 Mac의 메모리가 부족해요</translation>
    </message>
    <message>
        <source>Unload the model that is loaded there, or choose a smaller one.</source>
        <translation>그 Mac에 불러온 모델을 메모리에서 내리거나, 더 작은 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>메모리를 다 썼어요</translation>
    </message>
    <message>
        <source>Engine closed</source>
        <translation>엔진이 종료됐어요</translation>
    </message>
    <message>
        <source>Hunch was quitting.</source>
        <translation>Hunch가 종료되는 중이었어요.</translation>
    </message>
    <message>
        <source>Reopen Hunch to continue.</source>
        <translation>Hunch를 다시 열어 계속하세요.</translation>
    </message>
    <message>
        <source>MLX cannot be loaded</source>
        <translation>MLX를 불러올 수 없어요</translation>
    </message>
    <message>
        <source>Not installed; this is %1.</source>
        <translation>설치되어 있지 않아요. 이 컴퓨터는 %1이에요.</translation>
    </message>
    <message>
        <source>Reinstall Hunch.</source>
        <translation>Hunch를 다시 설치하세요.</translation>
    </message>
    <message>
        <source>Installed for %2; this is %1.</source>
        <translation>%2용으로 설치됐는데, 이 컴퓨터는 %1이에요.</translation>
    </message>
    <message>
        <source>Update macOS, or reinstall Hunch.</source>
        <translation>macOS를 업데이트하거나 Hunch를 다시 설치하세요.</translation>
    </message>
    <message>
        <source>Something went wrong in Hunch</source>
        <translation>Hunch에 문제가 생겼어요</translation>
    </message>
    <message>
        <source>This is a bug.</source>
        <translation>Hunch의 버그예요.</translation>
    </message>
    <message>
        <source>See the log.</source>
        <translation>로그를 확인하세요.</translation>
    </message>
    <message>
        <source>Not saved; your text is kept</source>
        <translation>저장되지 않았지만 글은 남아 있어요</translation>
    </message>
    <message>
        <source>The disk with %1 is full.</source>
        <translation>%1 폴더가 있는 디스크가 가득 찼어요.</translation>
    </message>
    <message>
        <source>Free some space.</source>
        <translation>공간을 확보하세요.</translation>
    </message>
    <message>
        <source>Another program locked your chats.</source>
        <translation>다른 프로그램이 채팅 파일을 잠갔어요.</translation>
    </message>
    <message>
        <source>Close that program.</source>
        <translation>그 프로그램을 닫으세요.</translation>
    </message>
    <message>
        <source>No permission to write to %1.</source>
        <translation>Hunch에 %1 폴더의 쓰기 권한이 없어요.</translation>
    </message>
    <message>
        <source>Allow access.</source>
        <translation>권한을 허용하세요.</translation>
    </message>
    <message>
        <source>Check the disk.</source>
        <translation>디스크를 확인하세요.</translation>
    </message>
    <message>
        <source>Chats cannot be opened</source>
        <translation>채팅을 열 수 없어요</translation>
    </message>
    <message>
        <source>The chat file in %1 is unreadable, but unchanged.</source>
        <translation>%1 폴더의 채팅 파일을 읽을 수 없어요. 파일은 그대로예요.</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>모델 선택</translation>
    </message>
    <message>
        <source>Choose a draft</source>
        <translation>초안 모델 선택</translation>
    </message>
    <message>
        <source>Open Models</source>
        <translation>모델 열기</translation>
    </message>
    <message>
        <source>Open Settings</source>
        <translation>설정 열기</translation>
    </message>
    <message>
        <source>Install a model</source>
        <translation>모델 설치</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>다시 시도</translation>
    </message>
    <message>
        <source>Continue</source>
        <translation>이어 쓰기</translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>새 채팅</translation>
    </message>
    <message>
        <source>Go on without them</source>
        <translation>이미지 없이 계속</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>이 조합에서 끄기</translation>
    </message>
    <message>
        <source>Drafting is off.</source>
        <translation>초안 모델을 꺼 두었어요.</translation>
    </message>
    <message>
        <source>No draft loaded.</source>
        <translation>불러온 초안 모델이 없어요.</translation>
    </message>
    <message>
        <source>The draft is still reading the chat.</source>
        <translation>초안 모델이 아직 채팅을 읽고 있어요.</translation>
    </message>
    <message>
        <source>Paused: drafting would be slower.</source>
        <translation>쉬는 중: 초안 모델을 쓰면 더 느려요.</translation>
    </message>
    <message>
        <source>Drafting pauses while several replies are written.</source>
        <translation>여러 답변을 쓰는 동안에는 초안 모델이 쉬어요.</translation>
    </message>
    <message>
        <source>No drafting: this model&apos;s cache cannot be rolled back.</source>
        <translation>이 모델은 캐시를 되돌릴 수 없어서 초안 모델을 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>The draft failed; the main model finished alone.</source>
        <translation>초안 모델에 문제가 생겨 메인 모델이 혼자 썼어요.</translation>
    </message>
    <message>
        <source>The starter pair knows only Hunch</source>
        <translation>기본 모델은 Hunch만 알아요</translation>
    </message>
    <message>
        <source>For anything else, install a larger model.</source>
        <translation>다른 이야기를 하려면 더 큰 모델을 설치하세요.</translation>
    </message>
    <message>
        <source>Reply interrupted</source>
        <translation>답변이 중단됐어요</translation>
    </message>
    <message>
        <source>It was cut short.</source>
        <translation>끝까지 쓰지 못했어요.</translation>
    </message>
    <message>
        <source>Not saved yet</source>
        <translation>아직 저장되지 않았어요</translation>
    </message>
    <message>
        <source>Hunch keeps trying to save this reply.</source>
        <translation>이 답변을 저장하려고 계속 시도하고 있어요.</translation>
    </message>
    <message>
        <source>Free some space and keep Hunch open.</source>
        <translation>공간을 확보하고 Hunch를 열어 두세요.</translation>
    </message>
    <message>
        <source>Message unreadable</source>
        <translation>이 메시지를 읽을 수 없어요</translation>
    </message>
    <message>
        <source>The chat file is damaged here.</source>
        <translation>채팅 파일의 이 부분이 손상됐어요.</translation>
    </message>
    <message>
        <source>Model changed</source>
        <translation>모델이 바뀌었어요</translation>
    </message>
    <message>
        <source>Its model was unloaded.</source>
        <translation>답변을 쓰던 모델을 메모리에서 내렸어요.</translation>
    </message>
    <message>
        <source>Memory full</source>
        <translation>메모리가 가득 찼어요</translation>
    </message>
    <message>
        <source>Start a new chat, or choose a smaller model.</source>
        <translation>새 채팅을 시작하거나, 더 작은 모델을 선택하세요.</translation>
    </message>
    <message>
        <source>Context full</source>
        <translation>컨텍스트가 가득 찼어요</translation>
    </message>
    <message>
        <source>Continue without the oldest messages, or start a new chat.</source>
        <translation>오래된 메시지를 빼고 이어 쓰거나 새 채팅을 시작하세요.</translation>
    </message>
    <message>
        <source>Reply limit reached</source>
        <translation>답변 길이 제한에 이르렀어요</translation>
    </message>
    <message>
        <source>Continue, or raise the limit.</source>
        <translation>이어 쓰거나 제한을 늘리세요.</translation>
    </message>
</context>
<context>
    <name>ModelLinksPage</name>
    <message>
        <source>Your models</source>
        <translation>내 모델</translation>
    </message>
    <message>
        <source>Models are in the sidebar of the main window.</source>
        <translation>모델은 메인 윈도우의 사이드바에 있어요.</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>모델 찾기</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>Contacting hub…</source>
        <translation>허브에 확인하는 중…</translation>
    </message>
    <message>
        <source>license %1</source>
        <translation>라이선스 %1</translation>
    </message>
    <message>
        <source>made from %1</source>
        <translation>원본 %1</translation>
    </message>
    <message>
        <source>Install, %1</source>
        <translation>설치(%1)</translation>
    </message>
    <message>
        <source>Nothing to install</source>
        <translation>설치할 것이 없어요</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>설치됨</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>뒤로</translation>
    </message>
    <message>
        <source>Install</source>
        <translation>설치</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>사용</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>다시 시도</translation>
    </message>
    <message>
        <source>Matching drafts</source>
        <translation>함께 쓸 수 있는 초안 모델</translation>
    </message>
    <message>
        <source>Find drafts</source>
        <translation>초안 모델 찾기</translation>
    </message>
    <message>
        <source>Open model page</source>
        <translation>모델 페이지 열기</translation>
    </message>
    <message>
        <source>Read the rest on the model page</source>
        <translation>모델 페이지에서 나머지 읽기</translation>
    </message>
    <message>
        <source>Installed files</source>
        <translation>설치되는 파일</translation>
    </message>
    <message>
        <source>From the author</source>
        <translation>만든 사람의 설명</translation>
    </message>
    <message>
        <source>Accept the terms on its page, then add your token in Settings.</source>
        <translation>페이지에서 약관에 동의한 뒤 설정에 토큰을 넣으세요.</translation>
    </message>
</context>
<context>
    <name>ModelRow</name>
    <message>
        <source>Use</source>
        <translation>사용</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 사용</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>다시 불러오기</translation>
    </message>
    <message>
        <source>Reload %1</source>
        <translation>%1 다시 불러오기</translation>
    </message>
    <message>
        <source>Run over 2 Macs…</source>
        <translation>Mac 2대로 실행…</translation>
    </message>
    <message>
        <source>Run %1 over 2 Macs</source>
        <translation>%1 모델을 Mac 2대로 실행</translation>
    </message>
    <message>
        <source>More about %1</source>
        <translation>%1 자세히</translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation>%1 삭제</translation>
    </message>
    <message>
        <source>Main model in use</source>
        <translation>메인 모델로 사용 중</translation>
    </message>
    <message>
        <source>Draft in use</source>
        <translation>초안 모델로 사용 중</translation>
    </message>
    <message>
        <source>Updated on disk, not reloaded yet.</source>
        <translation>파일은 업데이트됐지만 이전 버전을 쓰고 있어요.</translation>
    </message>
    <message>
        <source>can think</source>
        <translation>생각 가능</translation>
    </message>
    <message>
        <source>deleting…</source>
        <translation>삭제하는 중…</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>확인 중…</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>손상됨</translation>
    </message>
    <message>
        <source>update available</source>
        <translation>업데이트 있음</translation>
    </message>
    <message>
        <source>Show in folder</source>
        <translation>폴더에서 보기</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>채팅 템플릿</translation>
    </message>
    <message>
        <source>Stop verifying</source>
        <translation>검사 중지</translation>
    </message>
    <message>
        <source>Verify</source>
        <translation>검사</translation>
    </message>
    <message>
        <source>Check for update</source>
        <translation>업데이트 확인</translation>
    </message>
    <message>
        <source>Repair</source>
        <translation>복구</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>업데이트</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>Hugging Face cache</source>
        <translation>Hugging Face 캐시</translation>
    </message>
    <message>
        <source>%1 drafter</source>
        <translation>%1 초안 모델</translation>
    </message>
    <message>
        <source>%1-bit</source>
        <translation>%1비트</translation>
    </message>
    <message>
        <source>sees pictures</source>
        <translation>이미지 인식</translation>
    </message>
    <message>
        <source>comes with Hunch</source>
        <translation>Hunch에 포함</translation>
    </message>
    <message>
        <source>installed by Hunch</source>
        <translation>Hunch에서 설치</translation>
    </message>
    <message>
        <source>added folder</source>
        <translation>추가한 폴더</translation>
    </message>
    <message>
        <source>runs well</source>
        <translation>잘 돌아가요</translation>
    </message>
    <message>
        <source>may be slow</source>
        <translation>느릴 수 있어요</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>너무 커요</translation>
    </message>
    <message>
        <source>%1 of %3 with a chat of %2 tokens</source>
        <translation>%2토큰 채팅까지 %1 필요, 사용 가능 %3</translation>
    </message>
    <message>
        <source>%1 tokens fit</source>
        <translation>최대 %1토큰</translation>
    </message>
    <message>
        <source>slower on %2 (%1×)</source>
        <translation>%2에서 더 느림(%1배)</translation>
    </message>
    <message>
        <source>%1× faster in chats on %2</source>
        <translation>%2에서 채팅이 %1배 빨라요</translation>
    </message>
    <message>
        <source>%1× faster in code on %2</source>
        <translation>%2에서 코드가 %1배 빨라요</translation>
    </message>
    <message>
        <source>%1× faster in math on %2</source>
        <translation>%2에서 수학이 %1배 빨라요</translation>
    </message>
    <message>
        <source>%1× faster on %2</source>
        <translation>%2에서 %1배 빨라요</translation>
    </message>
    <message>
        <source>Text model, no chat template</source>
        <translation>채팅 템플릿이 없는 텍스트 모델</translation>
    </message>
    <message>
        <source>Chat model</source>
        <translation>채팅 모델</translation>
    </message>
    <message>
        <source>pictures</source>
        <translation>이미지</translation>
    </message>
    <message>
        <source>thinking</source>
        <translation>생각</translation>
    </message>
    <message>
        <source>tools</source>
        <translation>도구</translation>
    </message>
    <message>
        <source>drafts for %1</source>
        <translation>%1 모델의 초안</translation>
    </message>
    <message>
        <source>made for %1</source>
        <translation>%1 전용</translation>
    </message>
    <message>
        <source>main model not installed</source>
        <translation>메인 모델이 설치되지 않음</translation>
    </message>
    <message>
        <source>not supported: several tokens at once change its results</source>
        <translation>쓸 수 없어요. 토큰 여러 개를 한꺼번에 읽으면 결과가 달라져요</translation>
    </message>
    <message>
        <source>none installed</source>
        <translation>설치된 것이 없어요</translation>
    </message>
    <message>
        <source>has its own drafter</source>
        <translation>전용 초안 모델이 들어 있어요</translation>
    </message>
    <message>
        <source>%1 can draft for it</source>
        <translation>초안으로 쓸 수 있는 모델: %1</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1토큰</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>계열</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>종류</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>매개변수</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>정밀도</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>컨텍스트</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>메모리</translation>
    </message>
    <message>
        <source>Can do</source>
        <translation>지원 기능</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>초안 모델</translation>
    </message>
    <message>
        <source>Languages</source>
        <translation>언어</translation>
    </message>
    <message>
        <source>License</source>
        <translation>라이선스</translation>
    </message>
    <message>
        <source>Repository</source>
        <translation>저장소</translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>폴더</translation>
    </message>
    <message>
        <source>%1 fit in memory</source>
        <translation>메모리에는 %1토큰</translation>
    </message>
    <message>
        <source>limited to %1 in Settings</source>
        <translation>설정에서 %1토큰으로 제한</translation>
    </message>
    <message>
        <source>%1 set in Settings</source>
        <translation>설정에는 %1토큰</translation>
    </message>
    <message>
        <source>In use as main model; the starter pair replaces it.</source>
        <translation>메인 모델로 쓰고 있어요. 삭제하면 기본 모델로 바뀌어요.</translation>
    </message>
    <message>
        <source>In use as draft; replies continue without one.</source>
        <translation>초안 모델로 쓰고 있어요. 삭제하면 답변을 초안 없이 써요.</translation>
    </message>
    <message>
        <source>It can draft for %1.</source>
        <translation>%1 모델의 초안으로 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>Reading files, %1</source>
        <translation>파일을 읽는 중… %1</translation>
    </message>
    <message>
        <source>All files are intact.</source>
        <translation>모든 파일이 온전해요.</translation>
    </message>
    <message>
        <source>Damaged or missing: %1.</source>
        <translation>손상되었거나 없는 파일: %1.</translation>
    </message>
    <message>
        <source>Cannot tell: not installed by Hunch.</source>
        <translation>Hunch가 설치하지 않아서 알 수 없어요.</translation>
    </message>
    <message>
        <source>Contacting hub…</source>
        <translation>허브에 확인하는 중…</translation>
    </message>
    <message>
        <source>Up to date.</source>
        <translation>최신 버전이에요.</translation>
    </message>
    <message>
        <source>Update available.</source>
        <translation>업데이트가 있어요.</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>일시 정지됨</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>다운로드 중</translation>
    </message>
    <message>
        <source>Use %1 and its draft</source>
        <translation>%1 모델과 초안 모델 사용</translation>
    </message>
    <message>
        <source>Use both</source>
        <translation>둘 다 사용</translation>
    </message>
    <message>
        <source>Install %1 and its draft</source>
        <translation>%1 모델과 초안 모델 설치</translation>
    </message>
    <message>
        <source>Install both</source>
        <translation>둘 다 설치</translation>
    </message>
    <message>
        <source>Install %1</source>
        <translation>%1 설치</translation>
    </message>
    <message>
        <source>about %1 to download</source>
        <translation>다운로드 약 %1</translation>
    </message>
    <message>
        <source>has a draft</source>
        <translation>초안 모델 있음</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>%1 was not downloaded</source>
        <translation>%1 모델을 다운로드하지 못했어요</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>보기</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
</context>
<context>
    <name>ModelsView</name>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Yours</source>
        <translation>내 모델</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>찾기</translation>
    </message>
</context>
<context>
    <name>MoveOffer</name>
    <message>
        <source>It runs from a temporary place, such as a disk image.</source>
        <translation>지금은 디스크 이미지처럼 곧 사라지는 곳에서 실행 중이에요.</translation>
    </message>
    <message>
        <source>Move Hunch to Applications?</source>
        <translation>Hunch를 응용 프로그램 폴더로 옮길까요?</translation>
    </message>
    <message>
        <source>Move and Reopen</source>
        <translation>옮기고 다시 열기</translation>
    </message>
    <message>
        <source>Moving to Applications…</source>
        <translation>응용 프로그램 폴더로 옮기는 중…</translation>
    </message>
    <message>
        <source>Drag Hunch to the Applications folder in Finder.</source>
        <translation>Finder에서 Hunch를 응용 프로그램 폴더로 드래그하세요.</translation>
    </message>
    <message>
        <source>Hunch could not move itself</source>
        <translation>Hunch를 옮기지 못했어요</translation>
    </message>
</context>
<context>
    <name>NearbyCard</name>
    <message>
        <source>Pair</source>
        <translation>페어링</translation>
    </message>
    <message>
        <source>Pair with %1</source>
        <translation>페어링: %1</translation>
    </message>
</context>
<context>
    <name>OfferRow</name>
    <message>
        <source>In use</source>
        <translation>사용 중</translation>
    </message>
    <message>
        <source>draft: %1</source>
        <translation>초안 모델 %1</translation>
    </message>
</context>
<context>
    <name>OptionField</name>
    <message>
        <source>As in Settings</source>
        <translation>설정대로</translation>
    </message>
</context>
<context>
    <name>OptionForm</name>
    <message>
        <source>As in Settings</source>
        <translation>설정대로</translation>
    </message>
    <message>
        <source>Text still varies</source>
        <translation>텍스트가 달라질 수 있음</translation>
    </message>
    <message>
        <source>Different text each time</source>
        <translation>매번 다른 텍스트</translation>
    </message>
    <message>
        <source>Same seed, same text</source>
        <translation>같은 시드면 같은 텍스트</translation>
    </message>
    <message>
        <source>No effect at temperature 0</source>
        <translation>온도가 0이면 효과 없음</translation>
    </message>
    <message>
        <source>No effect while drafting is off</source>
        <translation>초안 모델을 끄면 효과 없음</translation>
    </message>
    <message>
        <source>This chat only</source>
        <translation>이 채팅만</translation>
    </message>
    <message>
        <source>Default for this model</source>
        <translation>이 모델의 기본값</translation>
    </message>
    <message>
        <source>This project</source>
        <translation>이 프로젝트</translation>
    </message>
    <message>
        <source>From preset</source>
        <translation>프리셋 값</translation>
    </message>
    <message>
        <source>From the project</source>
        <translation>프로젝트 값</translation>
    </message>
</context>
<context>
    <name>Options</name>
    <message>
        <source>System prompt</source>
        <translation>시스템 프롬프트</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>온도</translation>
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
        <translation>반복 페널티</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>시드</translation>
    </message>
    <message>
        <source>Fastest drafting</source>
        <translation>초안 속도 우선</translation>
    </message>
    <message>
        <source>Reply limit</source>
        <translation>답변 길이 제한</translation>
    </message>
    <message>
        <source>Context limit</source>
        <translation>컨텍스트 제한</translation>
    </message>
    <message>
        <source>Long chats</source>
        <translation>긴 채팅</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>생각</translation>
    </message>
    <message>
        <source>Picture detail</source>
        <translation>이미지 세밀도</translation>
    </message>
    <message>
        <source>Context memory</source>
        <translation>컨텍스트 메모리</translation>
    </message>
    <message>
        <source>Form of replies</source>
        <translation>답변 형식</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>초안 모델</translation>
    </message>
    <message>
        <source>%1 cannot keep to a form. Choose Free text in the chat settings.</source>
        <translation>%1 모델은 형식을 지킬 수 없어요. 채팅 설정에서 자유 형식을 선택하세요.</translation>
    </message>
    <message>
        <source>Random</source>
        <translation>무작위</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>제한 없음</translation>
    </message>
    <message>
        <source>Same as model</source>
        <translation>모델과 같게</translation>
    </message>
    <message>
        <source>on</source>
        <translation>켬</translation>
    </message>
    <message>
        <source>off</source>
        <translation>끔</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>자동</translation>
    </message>
    <message>
        <source>Full</source>
        <translation>전체</translation>
    </message>
    <message>
        <source>Half</source>
        <translation>절반</translation>
    </message>
    <message>
        <source>Leave out the oldest</source>
        <translation>오래된 메시지 제외</translation>
    </message>
    <message>
        <source>Summarize the oldest</source>
        <translation>오래된 메시지 요약</translation>
    </message>
    <message>
        <source>Ask me</source>
        <translation>물어보기</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>낮음</translation>
    </message>
    <message>
        <source>High</source>
        <translation>높음</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>보통</translation>
    </message>
    <message>
        <source>Up to %1 tokens</source>
        <translation>최대 %1토큰</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>끔</translation>
    </message>
</context>
<context>
    <name>Overlay</name>
    <message>
        <source>Draft token %1 of %2 · pass %3</source>
        <translation>추측한 토큰 %2개 중 %1번째 · 패스 %3</translation>
    </message>
    <message>
        <source>The draft wanted</source>
        <translation>초안 모델의 추측</translation>
    </message>
    <message>
        <source>The main model wrote</source>
        <translation>메인 모델의 선택</translation>
    </message>
    <message>
        <source>to end the reply</source>
        <translation>답변 끝내기</translation>
    </message>
    <message>
        <source>a part of another character</source>
        <translation>다른 글자의 일부</translation>
    </message>
</context>
<context>
    <name>OverlayMenu</name>
    <message>
        <source>None in sight.</source>
        <translation>보이는 곳에는 없어요.</translation>
    </message>
    <message>
        <source>Draft marks are hidden.</source>
        <translation>초안 표시를 가렸어요.</translation>
    </message>
    <message>
        <source>Marked: guessed right.</source>
        <translation>맞힌 말을 표시해요.</translation>
    </message>
    <message>
        <source>Marked: guessed right, corrected.</source>
        <translation>맞힌 말과 고친 곳을 표시해요.</translation>
    </message>
    <message>
        <source>No corrections in sight.</source>
        <translation>보이는 곳에는 고친 곳이 없어요.</translation>
    </message>
    <message>
        <source>Always show</source>
        <translation>항상 보기</translation>
    </message>
    <message>
        <source>Dotted: guessed right. Solid: corrected.</source>
        <translation>점선: 맞힌 말. 실선: 고친 곳.</translation>
    </message>
    <message>
        <source>Draft Marks</source>
        <translation>초안 표시</translation>
    </message>
    <message>
        <source>Marked Words</source>
        <translation>표시할 말</translation>
    </message>
    <message>
        <source>Guessed Right</source>
        <translation>맞힌 말</translation>
    </message>
    <message>
        <source>Guessed Right and Corrected</source>
        <translation>맞힌 말과 고친 곳</translation>
    </message>
    <message>
        <source>Next Correction</source>
        <translation>다음 고친 곳</translation>
    </message>
    <message>
        <source>Previous Correction</source>
        <translation>이전 고친 곳</translation>
    </message>
</context>
<context>
    <name>PairChip</name>
    <message>
        <source>Models: %1</source>
        <translation>모델: %1</translation>
    </message>
    <message>
        <source>Unloaded; your next message reloads it.</source>
        <translation>메모리에 없어요. 다음 메시지를 보내면 다시 불러와요.</translation>
    </message>
    <message>
        <source>%1 drafts for it, ahead of time.</source>
        <translation>%1에서도 초안을 미리 만들고 있어요.</translation>
    </message>
    <message>
        <source>off for this pair</source>
        <translation>이 조합에서 꺼짐</translation>
    </message>
    <message>
        <source>answered together</source>
        <translation>함께 작성</translation>
    </message>
    <message>
        <source>off</source>
        <translation>끔</translation>
    </message>
    <message>
        <source>auto</source>
        <translation>자동</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <comment>drafted per pass</comment>
        <translation>
            <numerusform>토큰 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>Loading %1… %2</source>
        <translation>%1 불러오는 중… %2</translation>
    </message>
    <message>
        <source>Choose a model</source>
        <translation>모델 선택</translation>
    </message>
    <message>
        <source>Loading %1…</source>
        <translation>%1 불러오는 중…</translation>
    </message>
    <message>
        <source>%1 on 2 Macs</source>
        <translation>%1 · Mac 2대</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>%1 불러오기 실패</translation>
    </message>
</context>
<context>
    <name>PairedCard</name>
    <message>
        <source>Runs part of %1.</source>
        <translation>지금 %1 모델의 일부를 실행하고 있어요.</translation>
    </message>
    <message>
        <source>Change the address of %1</source>
        <translation>주소 변경: %1</translation>
    </message>
    <message>
        <source>Change address</source>
        <translation>주소 변경</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 제거</translation>
    </message>
    <message>
        <source>Remove…</source>
        <translation>제거…</translation>
    </message>
    <message>
        <source>Remove %1?</source>
        <translation>%1 항목을 제거할까요?</translation>
    </message>
    <message>
        <source>Neither Mac can use the other. To pair them again you need a new code.</source>
        <translation>두 Mac이 서로를 사용할 수 없게 돼요. 다시 페어링하려면 새 코드가 필요해요.</translation>
    </message>
    <message>
        <source>The model that runs over both is unloaded.</source>
        <translation>두 Mac으로 실행하던 모델은 메모리에서 내려요.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>제거</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
</context>
<context>
    <name>PairingCard</name>
    <message>
        <source>Paired with %1.</source>
        <translation>페어링했어요: %1.</translation>
    </message>
    <message>
        <source>Connecting…</source>
        <translation>연결하는 중…</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>주소</translation>
    </message>
    <message>
        <source>On the other Mac, under Lend memory to other Macs.</source>
        <translation>다른 Mac의 ‘다른 Mac에 메모리 빌려주기’에 표시된 주소.</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>코드</translation>
    </message>
    <message>
        <source>Eight digits, from Show code there.</source>
        <translation>그 Mac의 ‘코드 보기’에 나오는 여덟 자리 숫자.</translation>
    </message>
    <message>
        <source>Pair</source>
        <translation>페어링</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
</context>
<context>
    <name>Pairs</name>
    <message>
        <source>%1 more memory</source>
        <translation>메모리 %1 더 사용</translation>
    </message>
    <message>
        <source>slower here (%1)</source>
        <translation>이 Mac에서는 느려져요(%1)</translation>
    </message>
    <message>
        <source>%1 on this Mac</source>
        <translation>이 Mac에서 %1</translation>
    </message>
    <message>
        <source>slower</source>
        <translation>느려짐</translation>
    </message>
    <message>
        <source>no gain expected (estimate)</source>
        <translation>이 Mac에서는 이득이 없을 것으로 예상(추정)</translation>
    </message>
    <message>
        <source>about %1 in chats (estimate)</source>
        <translation>이 Mac의 채팅에서 약 %1(추정)</translation>
    </message>
    <message>
        <source>about %1 in code (estimate)</source>
        <translation>이 Mac의 코드에서 약 %1(추정)</translation>
    </message>
    <message>
        <source>about %1 in math (estimate)</source>
        <translation>이 Mac의 수학에서 약 %1(추정)</translation>
    </message>
    <message>
        <source>about %1 (estimate)</source>
        <translation>이 Mac에서 약 %1(추정)</translation>
    </message>
    <message>
        <source>not measured here yet</source>
        <translation>이 Mac에서 아직 측정하지 않았어요</translation>
    </message>
    <message>
        <source>With %1: %2</source>
        <translation>%1 사용: %2</translation>
    </message>
    <message>
        <source>Named after another model: may guess poorly.</source>
        <translation>다른 모델용 이름이에요. 추측이 잘 안 맞을 수 있어요.</translation>
    </message>
    <message>
        <source>Made for this main model.</source>
        <translation>이 메인 모델 전용이에요.</translation>
    </message>
    <message>
        <source>Both know the same %1 tokens.</source>
        <translation>두 모델의 토큰 %1개가 모두 같아요.</translation>
    </message>
    <message>
        <source>%1 of %2 tokens differ; none is text.</source>
        <translation>%2개 토큰 중 %1개가 달라요. 텍스트 토큰은 모두 같아요.</translation>
    </message>
    <message>
        <source>%1 of %2 tokens match.</source>
        <translation>토큰 %2개 중 %1개가 같아요.</translation>
    </message>
    <message>
        <source>Weights: %1, draft %2</source>
        <translation>가중치: 메인 모델 %1, 초안 모델 %2</translation>
    </message>
    <message>
        <source>Vocabularies: %1 tokens, draft %2, shared %3</source>
        <translation>어휘: 메인 모델 토큰 %1개, 초안 모델 %2개, 공통 %3개</translation>
    </message>
    <message>
        <source>Same tokenization</source>
        <translation>토큰을 나누는 방식이 같아요</translation>
    </message>
    <message>
        <source>Same tokens in four languages</source>
        <translation>네 언어의 예문을 두 모델이 같은 토큰으로 나눠요</translation>
    </message>
    <message>
        <source>Tokenization could not be compared</source>
        <translation>글을 토큰으로 나누는 방식은 비교하지 못했어요</translation>
    </message>
    <message>
        <source>Sample (%1): %2 tokens each, but different</source>
        <translation>예문(%1): 두 모델 모두 토큰 %2개지만 서로 달라요</translation>
    </message>
    <message>
        <source>Sample (%1): %2 tokens, draft %3</source>
        <translation>예문(%1): 메인 모델 토큰 %2개, 초안 모델 %3개</translation>
    </message>
    <message>
        <source>Same end tokens</source>
        <translation>답변을 끝내는 토큰이 같아요</translation>
    </message>
    <message>
        <source>Different end tokens</source>
        <translation>답변을 끝내는 토큰이 달라요</translation>
    </message>
    <message>
        <source>Same chat template</source>
        <translation>채팅 템플릿이 같아요</translation>
    </message>
    <message>
        <source>Different chat templates; the main model&apos;s is used</source>
        <translation>채팅 템플릿이 달라서 메인 모델의 템플릿을 써요</translation>
    </message>
</context>
<context>
    <name>PaletteCommands</name>
    <message>
        <source>Chat</source>
        <translation>채팅</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 사용</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Settings: %1</source>
        <translation>설정: %1</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>언어</translation>
    </message>
</context>
<context>
    <name>Picker</name>
    <message>
        <source>No models installed.</source>
        <translation>설치한 모델이 없어요.</translation>
    </message>
    <message>
        <source>Comparing…</source>
        <translation>비교하는 중…</translation>
    </message>
    <message>
        <source>Recent</source>
        <translation>최근 사용</translation>
    </message>
    <message>
        <source>All others</source>
        <translation>나머지</translation>
    </message>
    <message>
        <source>Used as drafts</source>
        <translation>초안으로 쓰는 모델</translation>
    </message>
    <message>
        <source>checking…</source>
        <translation>확인 중…</translation>
    </message>
    <message>
        <source>No draft</source>
        <translation>초안 없음</translation>
    </message>
    <message>
        <source>Main model only</source>
        <translation>메인 모델만</translation>
    </message>
    <message>
        <source>Chat models</source>
        <translation>채팅 모델</translation>
    </message>
    <message>
        <source>Drafters</source>
        <translation>전용 초안 모델</translation>
    </message>
    <message>
        <source>Comparing tokens…</source>
        <translation>토큰을 비교하는 중…</translation>
    </message>
    <message>
        <source>also on %1</source>
        <translation>%1에서도 실행</translation>
    </message>
    <message>
        <source>Recommended</source>
        <translation>추천</translation>
    </message>
    <message>
        <source>Compatible</source>
        <translation>사용 가능</translation>
    </message>
    <message>
        <source>Not compatible</source>
        <translation>사용할 수 없음</translation>
    </message>
    <message>
        <source>Back to the models</source>
        <translation>모델 목록으로</translation>
    </message>
    <message>
        <source>More</source>
        <translation>더 보기</translation>
    </message>
</context>
<context>
    <name>PickerLists</name>
    <message>
        <source>Main model</source>
        <translation>메인 모델</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>초안 모델</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>모델 검색</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>검색 결과가 없어요.</translation>
    </message>
</context>
<context>
    <name>PickerMore</name>
    <message>
        <source>Comparing…</source>
        <translation>비교하는 중…</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>속도 대결…</translation>
    </message>
    <message>
        <source>Find a draft…</source>
        <translation>초안 모델 찾기…</translation>
    </message>
    <message>
        <source>More models…</source>
        <translation>다른 모델…</translation>
    </message>
    <message>
        <source>Unload</source>
        <translation>메모리에서 내리기</translation>
    </message>
    <message>
        <source>How the two compare</source>
        <translation>두 모델 비교</translation>
    </message>
</context>
<context>
    <name>PictureViewer</name>
    <message>
        <source>This picture is not on the disk any more.</source>
        <translation>이 이미지는 디스크에 더 이상 없어요.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>복사</translation>
    </message>
    <message>
        <source>Remove from Message</source>
        <translation>메시지에서 제거</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
</context>
<context>
    <name>PlanCard</name>
    <message>
        <source>Automatic measures which is faster.</source>
        <translation>‘자동’은 어느 쪽이 더 빠른지 재서 골라요.</translation>
    </message>
    <message>
        <source>Mode</source>
        <translation>방식</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>계획하는 중…</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>With</source>
        <translation>함께할 Mac</translation>
    </message>
    <message>
        <source>Run over 2 Macs</source>
        <translation>Mac 2대로 실행</translation>
    </message>
    <message>
        <source>Run on this Mac alone</source>
        <translation>이 Mac에서만 실행</translation>
    </message>
</context>
<context>
    <name>Portable</name>
    <message>
        <source>The disk with %1 is full.</source>
        <translation>%1 폴더가 있는 디스크가 가득 찼어요.</translation>
    </message>
    <message>
        <source>Free some space, or choose another place.</source>
        <translation>공간을 확보하거나 다른 위치를 선택하세요.</translation>
    </message>
    <message>
        <source>No permission to write to %1.</source>
        <translation>Hunch에 %1 폴더의 쓰기 권한이 없어요.</translation>
    </message>
    <message>
        <source>Choose another place.</source>
        <translation>다른 위치를 선택하세요.</translation>
    </message>
    <message>
        <source>%1 no longer exists.</source>
        <translation>%1 폴더가 더 이상 없어요.</translation>
    </message>
    <message>
        <source>%1 cannot be written to.</source>
        <translation>%1 폴더가 있는 디스크에 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>Not exported</source>
        <translation>내보내지 못했어요</translation>
    </message>
    <message>
        <source>Exported to “%1”.</source>
        <translation>‘%1’ 이름으로 내보냈어요.</translation>
    </message>
    <message>
        <source>Pictures left out because their files are missing or damaged: %1.</source>
        <translation>파일이 없거나 손상되어 빠진 이미지: %1개.</translation>
    </message>
    <message>
        <source>Files left out because they are gone: %1.</source>
        <translation>파일이 없어 빠진 항목: %1개.</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>보기</translation>
    </message>
    <message>
        <source>Chats imported: %1.</source>
        <translation>채팅 %1개를 가져왔어요.</translation>
    </message>
    <message>
        <source>Chats with new messages: %1.</source>
        <translation>채팅 %1개에 새 메시지를 더했어요.</translation>
    </message>
    <message>
        <source>Presets imported: %1.</source>
        <translation>프리셋 %1개를 가져왔어요.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
    <message>
        <source>not a supported chat file</source>
        <translation>지원하는 채팅 파일이 아니에요</translation>
    </message>
    <message>
        <source>no messages</source>
        <translation>메시지가 없어요</translation>
    </message>
    <message>
        <source>damaged, or not JSON</source>
        <translation>손상됐거나 JSON이 아니에요</translation>
    </message>
    <message>
        <source>incomplete</source>
        <translation>끝부분이 잘려 있어요</translation>
    </message>
    <message>
        <source>damaged</source>
        <translation>손상됐어요</translation>
    </message>
    <message>
        <source>Tool</source>
        <comment>that a reply has called</comment>
        <translation>도구</translation>
    </message>
    <message>
        <source>Result</source>
        <comment>of a tool</comment>
        <translation>결과</translation>
    </message>
    <message>
        <source>too large</source>
        <translation>너무 커요</translation>
    </message>
    <message>
        <source>Pictures left out: %1. JSON takes 150 MB of them from each chat and 2 GB in all, Markdown takes all.</source>
        <translation>빠진 이미지: %1개. JSON에는 채팅마다 150MB, 모두 합쳐 2GB까지만 담겨요. 마크다운에는 모두 담겨요.</translation>
    </message>
    <message>
        <source>from a newer Hunch</source>
        <translation>더 새로운 버전의 Hunch 파일이에요</translation>
    </message>
    <message>
        <source>password-protected</source>
        <translation>비밀번호로 보호돼 있어요</translation>
    </message>
    <message>
        <source>not found</source>
        <translation>찾을 수 없어요</translation>
    </message>
    <message>
        <source>no permission</source>
        <translation>읽기 권한이 없어요</translation>
    </message>
    <message>
        <source>not readable</source>
        <translation>읽을 수 없어요</translation>
    </message>
    <message>
        <source>too complex</source>
        <translation>너무 복잡해요</translation>
    </message>
    <message>
        <source>You</source>
        <comment>who wrote a message</comment>
        <translation>나</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>답변</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>생각</translation>
    </message>
    <message>
        <source>Attachment</source>
        <translation>첨부 파일</translation>
    </message>
</context>
<context>
    <name>PresetRow</name>
    <message>
        <source>Save as Preset…</source>
        <translation>프리셋으로 저장…</translation>
    </message>
    <message>
        <source>Save Changes to Preset</source>
        <translation>변경 사항을 프리셋에 저장</translation>
    </message>
    <message>
        <source>Rename…</source>
        <translation>이름 변경…</translation>
    </message>
    <message>
        <source>Delete Preset…</source>
        <translation>프리셋 삭제…</translation>
    </message>
    <message>
        <source>Delete the preset “%1”?</source>
        <translation>‘%1’ 프리셋을 삭제할까요?</translation>
    </message>
    <message>
        <source>Chats keep its settings. This cannot be undone.</source>
        <translation>채팅의 설정은 그대로 남아요. 되돌릴 수 없어요.</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>삭제</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>No preset</source>
        <translation>프리셋 없음</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>프리셋</translation>
    </message>
    <message>
        <source>Manage presets</source>
        <translation>프리셋 관리</translation>
    </message>
    <message>
        <source>Preset name</source>
        <translation>프리셋 이름</translation>
    </message>
</context>
<context>
    <name>ProgressPart</name>
    <message>
        <source>Stopping…</source>
        <translation>중지하는 중…</translation>
    </message>
    <message numerus="yes">
        <source>Waiting for %Ln other reply(ies)…</source>
        <translation>
            <numerusform>다른 답변 %Ln개를 기다리는 중…</numerusform>
        </translation>
    </message>
    <message>
        <source>Reading the chat…</source>
        <translation>채팅을 읽는 중…</translation>
    </message>
    <message>
        <source>Reading the chat… %1</source>
        <translation>채팅을 읽는 중… %1</translation>
    </message>
</context>
<context>
    <name>ProjectFiles</name>
    <message>
        <source>read whole in every chat</source>
        <translation>모든 채팅에서 전체를 읽음</translation>
    </message>
    <message>
        <source>searched when needed</source>
        <translation>필요할 때 검색</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>대기 중</translation>
    </message>
    <message>
        <source>being read</source>
        <translation>읽는 중</translation>
    </message>
    <message>
        <source>not found where it was</source>
        <translation>원래 위치에 없음</translation>
    </message>
    <message>
        <source>too large to read</source>
        <translation>너무 커서 읽을 수 없음</translation>
    </message>
</context>
<context>
    <name>ProjectFilesCard</name>
    <message>
        <source>Files</source>
        <translation>파일</translation>
    </message>
    <message>
        <source>Add Files…</source>
        <translation>파일 추가…</translation>
    </message>
    <message>
        <source>Drop files here. Small ones are read whole, the others are searched.</source>
        <translation>여기에 파일을 놓으세요. 작은 파일은 전체를 읽고, 나머지는 검색해요.</translation>
    </message>
    <message numerus="yes">
        <source>And %Ln more file(s)</source>
        <translation>
            <numerusform>그 밖에 파일 %Ln개</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ProjectForm</name>
    <message>
        <source>Project</source>
        <translation>프로젝트</translation>
    </message>
    <message>
        <source>All chats in a project begin with its instructions and files, its models and settings.</source>
        <translation>프로젝트의 모든 채팅은 같은 지침, 파일, 모델, 설정으로 시작해요.</translation>
    </message>
    <message>
        <source>New Chat in This Project</source>
        <translation>이 프로젝트에서 새 채팅</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>이름</translation>
    </message>
    <message>
        <source>Instructions</source>
        <translation>지침</translation>
    </message>
    <message>
        <source>What the model should know and do in every chat here</source>
        <translation>이곳의 모든 채팅에서 모델이 알고 지켜야 할 것</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s), read once for all chats</source>
        <translation>
            <numerusform>토큰 %Ln개, 모든 채팅에서 한 번만 읽어요</numerusform>
        </translation>
    </message>
    <message>
        <source>As chosen at the time</source>
        <translation>그때 고른 모델</translation>
    </message>
    <message>
        <source>%1 (not installed)</source>
        <translation>%1(설치되지 않음)</translation>
    </message>
    <message>
        <source>Models for new chats</source>
        <translation>새 채팅의 모델</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 사용</translation>
    </message>
    <message>
        <source>Chat settings</source>
        <translation>채팅 설정</translation>
    </message>
</context>
<context>
    <name>ProjectLine</name>
    <message>
        <source>instructions</source>
        <translation>지침</translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s)</source>
        <translation>
            <numerusform>파일 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>settings</source>
        <translation>설정</translation>
    </message>
    <message>
        <source>Project: %1</source>
        <translation>프로젝트: %1</translation>
    </message>
</context>
<context>
    <name>ProjectPage</name>
    <message>
        <source>Add Files to the Project</source>
        <translation>프로젝트에 파일 추가</translation>
    </message>
    <message>
        <source>“%1” was removed from the project.</source>
        <translation>‘%1’ 파일을 프로젝트에서 제거했어요.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
    <message numerus="yes">
        <source>%Ln file(s) left out: a project holds 5,000 files and 2 GB.</source>
        <translation>
            <numerusform>파일 %Ln개를 제외했어요. 프로젝트에는 파일 5,000개, 2GB까지 담을 수 있어요.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PromptDialog</name>
    <message>
        <source>Name</source>
        <translation>이름</translation>
    </message>
    <message>
        <source>Text</source>
        <translation>내용</translation>
    </message>
    <message>
        <source>Prompt</source>
        <translation>프롬프트</translation>
    </message>
    <message>
        <source>Example: Translate</source>
        <translation>예: 번역</translation>
    </message>
    <message>
        <source>Example: Translate into English, and keep the tone:</source>
        <translation>예: 말투를 살려서 한국어로 번역해 주세요:</translation>
    </message>
    <message>
        <source>New Prompt</source>
        <translation>새 프롬프트</translation>
    </message>
    <message>
        <source>Edit Prompts</source>
        <translation>프롬프트 편집</translation>
    </message>
    <message>
        <source>Type / in a message to use it.</source>
        <translation>메시지에 /를 입력하면 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>저장</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>삭제</translation>
    </message>
    <message>
        <source>Deleted the prompt “%1”.</source>
        <translation>‘%1’ 프롬프트를 삭제했어요.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
</context>
<context>
    <name>PromptField</name>
    <message>
        <source>Cut to %1 characters.</source>
        <translation>%1자까지만 넣었어요.</translation>
    </message>
</context>
<context>
    <name>PromptList</name>
    <message>
        <source>Preset</source>
        <translation>프리셋</translation>
    </message>
    <message>
        <source>New Prompt…</source>
        <translation>새 프롬프트…</translation>
    </message>
    <message>
        <source>Edit Prompts…</source>
        <translation>프롬프트 편집…</translation>
    </message>
    <message>
        <source>Prompts</source>
        <translation>프롬프트</translation>
    </message>
</context>
<context>
    <name>QCocoaMenuItem</name>
    <message>
        <source>Cut</source>
        <translation>오려두기</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>복사하기</translation>
    </message>
    <message>
        <source>Paste</source>
        <translation>붙여넣기</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>전체 선택</translation>
    </message>
</context>
<context>
    <name>QuickAsk</name>
    <message>
        <source>Stop</source>
        <translation>중지</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>보내기</translation>
    </message>
    <message>
        <source>Quick Ask</source>
        <translation>빠른 질문</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>질문</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>답변</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>Saved as a chat.</source>
        <translation>채팅으로 저장돼요.</translation>
    </message>
    <message>
        <source>Open in Hunch</source>
        <translation>Hunch에서 열기</translation>
    </message>
</context>
<context>
    <name>Race</name>
    <message>
        <source>Same prompt and seed, with and without the draft.</source>
        <translation>같은 프롬프트와 시드로, 초안 모델 없이 한 번, 초안 모델로 한 번 답해요.</translation>
    </message>
    <message>
        <source>Measuring…</source>
        <translation>측정 중…</translation>
    </message>
    <message>
        <source>The race could not run</source>
        <translation>대결을 할 수 없어요</translation>
    </message>
    <message>
        <source>Not measured</source>
        <translation>측정하지 못함</translation>
    </message>
    <message>
        <source>Too short to measure</source>
        <translation>너무 짧아서 측정할 수 없어요</translation>
    </message>
    <message>
        <source>Nothing was drafted</source>
        <translation>추측한 토큰이 없어요</translation>
    </message>
    <message>
        <source>Continues after the current reply.</source>
        <translation>현재 답변이 끝나면 이어서 해요.</translation>
    </message>
    <message>
        <source>Race stopped.</source>
        <translation>대결을 멈췄어요.</translation>
    </message>
    <message>
        <source>The laps differ, so it takes longer.</source>
        <translation>측정값이 서로 달라 더 오래 걸려요.</translation>
    </message>
    <message>
        <source>Both ways in turns, until the figure is certain.</source>
        <translation>수치가 확실해질 때까지 두 방식을 번갈아 실행해요.</translation>
    </message>
    <message>
        <source>Try a prompt with a longer reply.</source>
        <translation>더 긴 답이 나올 프롬프트로 해 보세요.</translation>
    </message>
    <message>
        <source>The laps differed too much. Race again when this Mac is idle.</source>
        <translation>측정값의 차이가 너무 컸어요. Mac이 한가할 때 다시 대결해 보세요.</translation>
    </message>
    <message>
        <source>This Mac was busy at times; only its quiet laps count.</source>
        <translation>Mac이 때때로 다른 작업 중이어서 한가할 때의 결과만 썼어요.</translation>
    </message>
    <message>
        <source>So Auto drafts nothing here.</source>
        <translation>그래서 자동은 여기서 초안 모델을 쓰지 않아요.</translation>
    </message>
    <message>
        <source>The texts differ from token %1 on, by rounding.</source>
        <translation>%1번째 토큰부터 반올림 때문에 텍스트가 달라요.</translation>
    </message>
    <message>
        <source>The texts differ from token %1 on, by “Fastest drafting”.</source>
        <translation>%1번째 토큰부터 ‘초안 속도 우선’ 때문에 텍스트가 달라요.</translation>
    </message>
</context>
<context>
    <name>RaceBars</name>
    <message>
        <source>Without the draft</source>
        <translation>초안 모델 없이</translation>
    </message>
    <message>
        <source>With the draft</source>
        <translation>초안 모델로</translation>
    </message>
    <message>
        <source>%1 s · %2 tok/s</source>
        <translation>%1초 · 초당 %2토큰</translation>
    </message>
</context>
<context>
    <name>RaceWindow</name>
    <message>
        <source>Load a pair first.</source>
        <translation>먼저 조합을 불러오세요.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>중지</translation>
    </message>
    <message>
        <source>Race again</source>
        <translation>다시 대결</translation>
    </message>
    <message>
        <source>Race</source>
        <translation>속도 대결</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>As in this chat</source>
        <translation>이 채팅과 같게</translation>
    </message>
    <message>
        <source>Greedy</source>
        <translation>가장 유력한 토큰만</translation>
    </message>
    <message>
        <source>Sampling</source>
        <translation>샘플링</translation>
    </message>
    <message>
        <source>Always the likeliest token.</source>
        <translation>늘 확률이 가장 높은 토큰을 골라요.</translation>
    </message>
    <message>
        <source>Reply</source>
        <translation>답변</translation>
    </message>
</context>
<context>
    <name>ReadingDialog</name>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
</context>
<context>
    <name>Recommended</name>
    <message>
        <source>Recommended for this Mac</source>
        <translation>이 Mac에 추천</translation>
    </message>
</context>
<context>
    <name>RemovedCard</name>
    <message>
        <source>%1 was removed.</source>
        <translation>%1 서버를 제거했어요.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
</context>
<context>
    <name>ReplyEnds</name>
    <message>
        <source>Reply waits for you.</source>
        <translation>답변이 허용을 기다리고 있어요.</translation>
    </message>
    <message>
        <source>Reply failed.</source>
        <translation>답변을 완성하지 못했어요.</translation>
    </message>
    <message>
        <source>Reply finished.</source>
        <translation>답변이 끝났어요.</translation>
    </message>
    <message>
        <source>Reply ended early.</source>
        <translation>답변이 도중에 끝났어요.</translation>
    </message>
    <message>
        <source>Reply waits for you in another chat.</source>
        <translation>다른 채팅의 답변이 허용을 기다리고 있어요.</translation>
    </message>
    <message>
        <source>Reply failed in another chat.</source>
        <translation>다른 채팅의 답변을 완성하지 못했어요.</translation>
    </message>
    <message>
        <source>Reply finished in another chat.</source>
        <translation>다른 채팅의 답변이 끝났어요.</translation>
    </message>
    <message>
        <source>Reply ended early in another chat.</source>
        <translation>다른 채팅의 답변이 도중에 끝났어요.</translation>
    </message>
</context>
<context>
    <name>ReplyStats</name>
    <message>
        <source>stopped before the first word</source>
        <translation>첫 단어가 나오기 전에 중지됨</translation>
    </message>
    <message>
        <source>this Mac is hot</source>
        <translation>Mac이 뜨거워요</translation>
    </message>
    <message>
        <source>this Mac saves energy</source>
        <translation>저전력 모드</translation>
    </message>
    <message>
        <source>no drafting on battery</source>
        <translation>배터리 사용 중, 초안 모델 없이</translation>
    </message>
    <message>
        <source>no draft used: no gain here</source>
        <translation>초안 없이 씀: 이득 없음</translation>
    </message>
    <message>
        <source>as fast as without</source>
        <translation>초안 없을 때와 같은 속도</translation>
    </message>
    <message>
        <source>%1× faster</source>
        <translation>%1배 빠름</translation>
    </message>
    <message>
        <source>about %1× faster</source>
        <translation>약 %1배 빠름</translation>
    </message>
    <message>
        <source>waits for you</source>
        <translation>허용을 기다리는 중</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>중지됨</translation>
    </message>
    <message>
        <source>%1 slower</source>
        <translation>%1 느림</translation>
    </message>
    <message>
        <source>about %1 slower</source>
        <translation>약 %1 느림</translation>
    </message>
    <message>
        <source>Without a draft: about %1 tok/s, measured while idle. Between %2× and %3×.</source>
        <translation>초안이 없으면 초당 약 %1토큰이에요(쉬는 동안 측정). %2~%3배 사이예요.</translation>
    </message>
    <message>
        <source>Turn off for this pair</source>
        <translation>이 조합에서 끄기</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>초당 %1토큰</translation>
    </message>
    <message>
        <source>%1 accepted</source>
        <translation>수락률 %1</translation>
    </message>
    <message>
        <source>%1 tok/pass</source>
        <translation>패스당 %1토큰</translation>
    </message>
    <message>
        <source>%1 tok/pass (break-even: %2)</source>
        <translation>패스당 %1토큰(손익분기: %2)</translation>
    </message>
    <message>
        <source>The next reply measures more.</source>
        <translation>다음 답변에서 더 측정해요.</translation>
    </message>
    <message>
        <source>Answered together, so little was drafted.</source>
        <translation>함께 써서 초안을 거의 쓰지 않았어요.</translation>
    </message>
    <message>
        <source>Paused: drafting would be about %1 slower.</source>
        <translation>쉬는 중: 초안 모델을 쓰면 약 %1 느려요.</translation>
    </message>
    <message>
        <source>Guesses come from this chat&apos;s text.</source>
        <translation>이 채팅의 글에서 추측했어요.</translation>
    </message>
</context>
<context>
    <name>ReportDialog</name>
    <message>
        <source>Diagnostics</source>
        <translation>진단 정보</translation>
    </message>
    <message>
        <source>Hunch sends nothing. Copy it into your report.</source>
        <translation>Hunch는 아무것도 보내지 않아요. 복사해서 보고서에 붙여넣으세요.</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>복사</translation>
    </message>
</context>
<context>
    <name>Requests</name>
    <message>
        <source>Waiting</source>
        <translation>대기</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>읽는 중</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>쓰는 중</translation>
    </message>
    <message>
        <source>Using a tool</source>
        <translation>도구 사용 중</translation>
    </message>
    <message>
        <source>Waits for you</source>
        <translation>허용 대기 중</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>중지하는 중…</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>중지됨</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>중단됨</translation>
    </message>
    <message>
        <source>Length limit</source>
        <translation>길이 제한</translation>
    </message>
    <message>
        <source>Context full</source>
        <translation>컨텍스트 가득 참</translation>
    </message>
    <message>
        <source>Memory full</source>
        <translation>메모리 가득 참</translation>
    </message>
    <message>
        <source>Model changed</source>
        <translation>모델 바뀜</translation>
    </message>
    <message>
        <source>Failed</source>
        <translation>실패</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>완료</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>채팅</translation>
    </message>
    <message>
        <source>State</source>
        <translation>상태</translation>
    </message>
    <message>
        <source>Accept rate</source>
        <translation>수락률</translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <translation>패스당 토큰</translation>
    </message>
    <message>
        <source>By position</source>
        <translation>위치별</translation>
    </message>
    <message>
        <source>Over the reply</source>
        <translation>답변 중 변화</translation>
    </message>
    <message>
        <source>Draft time</source>
        <translation>초안 시간</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>토큰/초</translation>
    </message>
    <message>
        <source>answered together</source>
        <translation>함께 작성</translation>
    </message>
    <message>
        <source>no gain here</source>
        <translation>이득 없음</translation>
    </message>
    <message>
        <source>drafting off</source>
        <translation>초안 끔</translation>
    </message>
    <message>
        <source>no draft</source>
        <translation>초안 없음</translation>
    </message>
    <message>
        <source>not supported</source>
        <translation>지원 안 됨</translation>
    </message>
    <message>
        <source>draft failed</source>
        <translation>초안 모델 오류</translation>
    </message>
    <message>
        <source>from this chat</source>
        <translation>이 채팅의 글</translation>
    </message>
    <message>
        <source>draft model</source>
        <translation>초안 모델</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>쉬는 중</translation>
    </message>
    <message>
        <source>for your chat</source>
        <translation>내 채팅 먼저</translation>
    </message>
    <message>
        <source>Another program</source>
        <translation>다른 프로그램</translation>
    </message>
    <message>
        <source>Deleted chat</source>
        <translation>삭제된 채팅</translation>
    </message>
    <message>
        <source>Show more (%1 older)</source>
        <translation>이전 요청 %1개 더 보기</translation>
    </message>
    <message>
        <source>Speed-up</source>
        <translation>속도 배율</translation>
    </message>
</context>
<context>
    <name>RunSheet</name>
    <message>
        <source>What runs</source>
        <translation>실행할 명령</translation>
    </message>
    <message>
        <source>It gets the values of %1.</source>
        <translation>%1 값을 전달해요.</translation>
    </message>
    <message>
        <source>Connect to %1?</source>
        <translation>%1 서버에 연결할까요?</translation>
    </message>
    <message>
        <source>What a model gives to its tools is sent to this address.</source>
        <translation>모델이 이 서버의 도구에 넘기는 내용은 이 주소로 전송돼요.</translation>
    </message>
    <message>
        <source>Run %1?</source>
        <translation>%1 서버를 실행할까요?</translation>
    </message>
    <message>
        <source>This command runs as you and can do all that you can. What it touches, macOS counts as Hunch&apos;s.</source>
        <translation>이 명령은 사용자의 권한으로 실행되고, 사용자가 할 수 있는 일을 모두 할 수 있어요. macOS는 이 명령의 접근을 Hunch의 접근으로 봐요.</translation>
    </message>
    <message>
        <source>Turn On</source>
        <translation>켜기</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
</context>
<context>
    <name>SamplingPage</name>
    <message>
        <source>Example: Answer briefly, in Korean.</source>
        <translation>예: 한국어로 짧게 답해 주세요.</translation>
    </message>
    <message>
        <source>Restore defaults</source>
        <translation>기본값 복원</translation>
    </message>
    <message>
        <source>1 is off; higher avoids repeats.</source>
        <translation>1이면 끔. 높을수록 반복을 피해요.</translation>
    </message>
    <message>
        <source>For models that see. Lower is faster.</source>
        <translation>이미지를 보는 모델에 적용돼요. 낮을수록 빨라요.</translation>
    </message>
    <message>
        <source>Text still varies while “Fastest drafting” is on.</source>
        <translation>‘초안 속도 우선’을 켜면 시드가 같아도 텍스트가 달라질 수 있어요.</translation>
    </message>
    <message>
        <source>Same seed, same reply with any draft.</source>
        <translation>시드가 같으면 어떤 초안 모델이든 답변이 같아요.</translation>
    </message>
    <message>
        <source>Now %1, this chat&apos;s.</source>
        <translation>현재 값: %1(이 채팅).</translation>
    </message>
    <message>
        <source>Now %1, this preset&apos;s.</source>
        <translation>현재 값: %1(이 프리셋).</translation>
    </message>
    <message>
        <source>Now %1, this model&apos;s.</source>
        <translation>현재 값: %1(이 모델).</translation>
    </message>
    <message>
        <source>Now %1, this project&apos;s.</source>
        <translation>현재 값: %1(이 프로젝트).</translation>
    </message>
    <message>
        <source>Starts every chat.</source>
        <translation>모든 채팅을 시작할 때 보내요.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
    <message>
        <source>0 is predictable; higher is freer.</source>
        <translation>0이면 일정하고, 높을수록 자유로워요.</translation>
    </message>
    <message>
        <source>Limits choices to this total probability.</source>
        <translation>확률의 합이 이 비율이 될 때까지의 단어 중에서 골라요.</translation>
    </message>
    <message>
        <source>Skips words below this share of the likeliest.</source>
        <translation>가장 유력한 단어에 비해 확률이 이 비율보다 낮은 단어는 빼요.</translation>
    </message>
    <message>
        <source>Limits choices to this many; 0 is off.</source>
        <translation>이 수만큼의 단어에서 골라요. 0이면 끔.</translation>
    </message>
    <message>
        <source>Faster, but seeds no longer fix the text.</source>
        <translation>더 빠르지만, 시드로 텍스트가 고정되지 않아요.</translation>
    </message>
    <message>
        <source>In tokens.</source>
        <translation>토큰 수예요.</translation>
    </message>
    <message>
        <source>In tokens. Less saves memory.</source>
        <translation>토큰 수예요. 적을수록 메모리를 덜 써요.</translation>
    </message>
    <message>
        <source>What happens to messages that no longer fit.</source>
        <translation>더 이상 들어가지 않는 메시지를 어떻게 할지 정해요.</translation>
    </message>
    <message>
        <source>For models that can think.</source>
        <translation>생각할 수 있는 모델에 적용돼요.</translation>
    </message>
    <message>
        <source>Half holds almost twice the context; replies may differ slightly.</source>
        <translation>절반으로 하면 컨텍스트가 거의 두 배로 늘고, 답변이 조금 달라질 수 있어요.</translation>
    </message>
    <message>
        <source>Same seed, same reply, except where two words are nearly tied.</source>
        <translation>시드가 같으면 답변도 같아요. 두 단어가 거의 비길 때만 달라요.</translation>
    </message>
</context>
<context>
    <name>SchemaField</name>
    <message>
        <source>Too long: at most %1 characters.</source>
        <translation>너무 길어요. 최대 %1자까지 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>Not JSON: look at line %1.</source>
        <translation>JSON이 아니에요. %1번째 줄을 확인하세요.</translation>
    </message>
    <message>
        <source>Not JSON: look at line %1. The last schema that worked stays.</source>
        <translation>JSON이 아니에요. %1번째 줄을 확인하세요. 마지막으로 올바르던 스키마를 계속 써요.</translation>
    </message>
    <message>
        <source>A JSON schema is an object, in braces. The last schema that worked stays.</source>
        <translation>JSON 스키마는 중괄호로 된 객체여야 해요. 마지막으로 올바르던 스키마를 계속 써요.</translation>
    </message>
    <message>
        <source>Replies cannot be held to this: %1</source>
        <translation>답변을 이 스키마에 맞출 수 없어요: %1</translation>
    </message>
    <message>
        <source>Free text</source>
        <translation>자유 형식</translation>
    </message>
    <message>
        <source>List</source>
        <translation>목록</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>표</translation>
    </message>
    <message>
        <source>Keys and values</source>
        <translation>키와 값</translation>
    </message>
    <message>
        <source>JSON schema</source>
        <translation>JSON 스키마</translation>
    </message>
    <message>
        <source>Columns: name, year, price</source>
        <translation>열: 이름, 연도, 가격</translation>
    </message>
    <message>
        <source>Columns</source>
        <translation>열</translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message>
        <source>Clear</source>
        <translation>지우기</translation>
    </message>
</context>
<context>
    <name>Server</name>
    <message>
        <source>Off</source>
        <translation>꺼짐</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>시작하는 중…</translation>
    </message>
    <message>
        <source>Stopping…</source>
        <translation>종료하는 중…</translation>
    </message>
    <message>
        <source>Running at %1</source>
        <translation>%1에서 실행 중</translation>
    </message>
    <message>
        <source>The key cannot be read. Unlock the keychain and start Hunch again, or make a new key.</source>
        <translation>키를 읽을 수 없어요. 키체인의 잠금을 풀고 Hunch를 다시 시작하거나 새 키를 만드세요.</translation>
    </message>
    <message>
        <source>Port %1 is taken by another program.</source>
        <translation>포트 %1번은 다른 프로그램이 쓰고 있어요.</translation>
    </message>
    <message>
        <source>The system does not allow port %1.</source>
        <translation>시스템에서 포트 %1번을 허용하지 않아요.</translation>
    </message>
    <message>
        <source>The server could not start. The log says why.</source>
        <translation>서버를 시작하지 못했어요. 로그에 이유가 있어요.</translation>
    </message>
</context>
<context>
    <name>ServerCard</name>
    <message numerus="yes">
        <source>%Ln tool(s)</source>
        <translation>
            <numerusform>도구 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>What it offers</source>
        <translation>제공하는 도구</translation>
    </message>
    <message>
        <source>What it wrote last (stderr)</source>
        <translation>마지막 출력(stderr)</translation>
    </message>
    <message>
        <source>Get %1…</source>
        <translation>%1 설치 방법…</translation>
    </message>
    <message>
        <source>Restart</source>
        <translation>다시 시작</translation>
    </message>
    <message>
        <source>Restart %1</source>
        <translation>%1 다시 시작</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>제거</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 제거</translation>
    </message>
    <message>
        <source>Sign In…</source>
        <translation>로그인…</translation>
    </message>
    <message>
        <source>Cancel Sign-In</source>
        <translation>로그인 취소</translation>
    </message>
    <message>
        <source>Sign Out</source>
        <translation>로그아웃</translation>
    </message>
    <message>
        <source>Set.</source>
        <translation>설정했어요.</translation>
    </message>
    <message>
        <source>Not set.</source>
        <translation>설정하지 않았어요.</translation>
    </message>
</context>
<context>
    <name>ServerMenu</name>
    <message>
        <source>Use another port</source>
        <translation>다른 포트 사용</translation>
    </message>
    <message>
        <source>Server Settings…</source>
        <translation>서버 설정…</translation>
    </message>
    <message>
        <source>The server is not running</source>
        <translation>서버가 실행되고 있지 않아요</translation>
    </message>
    <message>
        <source>Turn Server Off</source>
        <translation>서버 끄기</translation>
    </message>
    <message>
        <source>Turn Server On</source>
        <translation>서버 켜기</translation>
    </message>
</context>
<context>
    <name>ServerPage</name>
    <message>
        <source>Off</source>
        <translation>끔</translation>
    </message>
    <message numerus="yes">
        <source>%Ln minute(s)</source>
        <translation>
            <numerusform>%Ln분</numerusform>
        </translation>
    </message>
    <message>
        <source>Server for other programs</source>
        <translation>다른 프로그램을 위한 서버</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1번 사용</translation>
    </message>
    <message>
        <source>Another port</source>
        <translation>다른 포트</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>주소</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>키</translation>
    </message>
    <message>
        <source>Programs without it are refused.</source>
        <translation>키가 없는 프로그램은 거부돼요.</translation>
    </message>
    <message>
        <source>No key. Any program on this Mac can connect.</source>
        <translation>키 없음. 이 Mac의 모든 프로그램이 연결할 수 있어요.</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>보기</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>가리기</translation>
    </message>
    <message>
        <source>Connect</source>
        <translation>연결</translation>
    </message>
    <message>
        <source>Access</source>
        <translation>접근</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>포트</translation>
    </message>
    <message>
        <source>New key</source>
        <translation>새 키</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>제거</translation>
    </message>
    <message>
        <source>Other machines in this network</source>
        <translation>같은 네트워크의 다른 기기</translation>
    </message>
    <message>
        <source>They need the key. Not encrypted: others can read along.</source>
        <translation>키가 필요해요. 암호화되지 않아 네트워크의 다른 사람이 내용을 엿볼 수 있어요.</translation>
    </message>
    <message>
        <source>Answer to any model name</source>
        <translation>모든 모델 이름에 응답</translation>
    </message>
    <message>
        <source>Unknown ones mean the model that you chose.</source>
        <translation>모르는 이름이면 내가 고른 모델이 답해요.</translation>
    </message>
    <message>
        <source>Load other models for programs</source>
        <translation>프로그램이 요청한 다른 모델 불러오기</translation>
    </message>
    <message>
        <source>Only while you are not chatting. Unloads after this long.</source>
        <translation>대화하지 않을 때만 불러와요. 이 시간 동안 쓰이지 않으면 내려요.</translation>
    </message>
    <message>
        <source>Programs never see chats, files or settings. Your messages come first.</source>
        <translation>프로그램은 채팅, 파일, 설정을 볼 수 없어요. 내 메시지를 먼저 처리해요.</translation>
    </message>
</context>
<context>
    <name>SettingsWindow</name>
    <message>
        <source>Settings</source>
        <translation>설정</translation>
    </message>
    <message>
        <source>General</source>
        <translation>일반</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Installed, downloads, folders, deleting.</source>
        <translation>설치된 모델, 다운로드, 모델이 있는 폴더, 삭제.</translation>
    </message>
    <message>
        <source>Recommended models and search.</source>
        <translation>추천 모델과 검색.</translation>
    </message>
    <message>
        <source>Activity</source>
        <translation>활동</translation>
    </message>
    <message>
        <source>Speed-up, accept rate, tokens per second, statistics.</source>
        <translation>답변마다 속도 배율, 수락률, 초당 토큰. 통계.</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>모델 찾기</translation>
    </message>
    <message>
        <source>Requests and totals</source>
        <translation>요청과 합계</translation>
    </message>
    <message>
        <source>Chat</source>
        <translation>채팅</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>화면 모드</translation>
    </message>
    <message>
        <source>Tools</source>
        <translation>도구</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>서버</translation>
    </message>
    <message>
        <source>Other Macs</source>
        <translation>다른 Mac</translation>
    </message>
    <message>
        <source>Advanced</source>
        <translation>고급</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>검색</translation>
    </message>
    <message>
        <source>Search settings</source>
        <translation>설정 검색</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>검색 결과가 없어요.</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>페이지</translation>
    </message>
</context>
<context>
    <name>Shortcuts</name>
    <message>
        <source>Keyboard Shortcuts</source>
        <translation>키보드 단축키</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>In a chat</source>
        <translation>채팅에서</translation>
    </message>
    <message>
        <source>New line</source>
        <translation>줄 바꿈</translation>
    </message>
    <message>
        <source>Use a prompt or preset</source>
        <translation>프롬프트나 프리셋 사용</translation>
    </message>
    <message>
        <source>Stop reply or cancel editing</source>
        <translation>답변 중지 또는 편집 취소</translation>
    </message>
    <message>
        <source>Previous message</source>
        <translation>이전 메시지</translation>
    </message>
    <message>
        <source>Next message</source>
        <translation>다음 메시지</translation>
    </message>
    <message>
        <source>Select text</source>
        <translation>텍스트 선택</translation>
    </message>
    <message>
        <source>On the focused message</source>
        <translation>포커스가 있는 메시지에서</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>편집</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>삭제</translation>
    </message>
    <message>
        <source>Previous or next version</source>
        <translation>이전 또는 다음 버전</translation>
    </message>
    <message>
        <source>Show or hide thinking</source>
        <translation>생각 보기 또는 가리기</translation>
    </message>
    <message>
        <source>Open or close folder</source>
        <translation>폴더 열기 또는 닫기</translation>
    </message>
    <message>
        <source>Open menu</source>
        <translation>메뉴 열기</translation>
    </message>
    <message>
        <source>In the chat list</source>
        <translation>채팅 목록에서</translation>
    </message>
    <message>
        <source>Open chat or folder</source>
        <translation>채팅 또는 폴더 열기</translation>
    </message>
    <message>
        <source>Select several chats</source>
        <translation>여러 채팅 선택</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>이름 변경</translation>
    </message>
</context>
<context>
    <name>Sidebar</name>
    <message>
        <source>Unpin Chat</source>
        <translation>채팅 고정 해제</translation>
    </message>
    <message>
        <source>Pin Chat</source>
        <translation>채팅 고정</translation>
    </message>
    <message>
        <source>Delete Chat</source>
        <translation>채팅 삭제</translation>
    </message>
    <message numerus="yes">
        <source>Delete %Ln chat(s)</source>
        <translation>
            <numerusform>채팅 %Ln개 삭제</numerusform>
        </translation>
    </message>
    <message>
        <source>New chat</source>
        <translation>새 채팅</translation>
    </message>
    <message>
        <source>Hide sidebar</source>
        <translation>사이드바 가리기</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>검색</translation>
    </message>
    <message>
        <source>Search chats</source>
        <translation>채팅 검색</translation>
    </message>
    <message>
        <source>No results.</source>
        <translation>검색 결과가 없어요.</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>검색 중…</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>모델</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>설정</translation>
    </message>
    <message>
        <source>Chats</source>
        <translation>채팅</translation>
    </message>
</context>
<context>
    <name>SpeculationActions</name>
    <message>
        <source>Draft length is now fixed.</source>
        <translation>이제 추측 길이가 고정돼요.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>실행 취소</translation>
    </message>
    <message>
        <source>Drafting is off for this pair. Auto turns it on.</source>
        <translation>이 조합에서는 초안 모델을 쓰지 않아요. ‘자동’을 고르면 다시 켜져요.</translation>
    </message>
    <message>
        <source>Race…</source>
        <translation>속도 대결…</translation>
    </message>
</context>
<context>
    <name>SpeculationCard</name>
    <message>
        <source>Use a draft</source>
        <translation>초안 모델 사용</translation>
    </message>
    <message>
        <source>Tokens to draft</source>
        <translation>초안 토큰 수</translation>
    </message>
    <message>
        <source>Turn on</source>
        <translation>켜기</translation>
    </message>
    <message>
        <source>Draft on battery</source>
        <translation>배터리에서도 초안 모델 사용</translation>
    </message>
    <message>
        <source>Off pauses it in chats until power is back.</source>
        <translation>끄면 전원을 연결할 때까지 채팅에 초안 모델을 쓰지 않아요.</translation>
    </message>
    <message>
        <source>Drafters at 4 bits</source>
        <translation>전용 초안 모델을 4비트로 사용</translation>
    </message>
    <message>
        <source>Faster, a third of the memory, nearly as many guesses right. Needs a restart.</source>
        <translation>더 빠르고 메모리를 3분의 1만 쓰면서, 거의 그만큼 잘 맞혀요. 다시 시작해야 적용돼요.</translation>
    </message>
    <message>
        <source>Off for this pair</source>
        <translation>이 조합에서 꺼짐</translation>
    </message>
    <message>
        <source>You turned it off: drafting was slower.</source>
        <translation>초안 모델을 쓰면 더 느려서 꺼 두었어요.</translation>
    </message>
</context>
<context>
    <name>SpeculationControls</name>
    <message>
        <source>Main model only.</source>
        <translation>메인 모델만 써요.</translation>
    </message>
    <message>
        <source>Pauses while that is slower.</source>
        <translation>느려지는 동안에는 쉬어요.</translation>
    </message>
    <message>
        <source>This chat only.</source>
        <translation>이 채팅에만 적용돼요.</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>끔</translation>
    </message>
    <message>
        <source>Fixed</source>
        <translation>고정 개수</translation>
    </message>
    <message>
        <source>Drafts only while that is faster.</source>
        <translation>더 빠를 때만 초안 모델을 써요.</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>자동</translation>
    </message>
    <message>
        <source>Drafting</source>
        <translation>초안 모델</translation>
    </message>
    <message>
        <source>Tokens to draft</source>
        <translation>초안 토큰 수</translation>
    </message>
</context>
<context>
    <name>StationCard</name>
    <message>
        <source>No other Mac</source>
        <translation>다른 Mac 없음</translation>
    </message>
    <message>
        <source>Drafts for this Mac</source>
        <translation>이 Mac의 초안을 만들 Mac</translation>
    </message>
    <message>
        <source>A paired Mac can run the draft too, and prepare the next one meanwhile. Same text.</source>
        <translation>페어링한 Mac도 초안 모델을 실행해 다음 초안을 미리 준비할 수 있어요. 글은 같아요.</translation>
    </message>
    <message>
        <source>Copying the draft to %1: %2</source>
        <translation>초안 모델을 복사하는 중 · %1: %2</translation>
    </message>
    <message>
        <source>%1 runs part of the model, so this Mac drafts.</source>
        <translation>%1에서 모델의 일부를 실행하므로 초안은 이 Mac에서 만들어요.</translation>
    </message>
</context>
<context>
    <name>TemplateDialog</name>
    <message>
        <source>Chat template of %1</source>
        <translation>%1의 채팅 템플릿</translation>
    </message>
    <message>
        <source>How chats are formatted for the model.</source>
        <translation>채팅을 모델에 맞게 바꾸는 형식이에요.</translation>
    </message>
    <message>
        <source>No readable chat template found.</source>
        <translation>읽을 수 있는 채팅 템플릿이 없어요.</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
</context>
<context>
    <name>ThinkingField</name>
    <message>
        <source>Up to a limit</source>
        <translation>한도 정하기</translation>
    </message>
    <message>
        <source>Tokens of thinking</source>
        <translation>생각 토큰 수</translation>
    </message>
</context>
<context>
    <name>ToolLine</name>
    <message>
        <source>All of %1</source>
        <translation>%1 전체</translation>
    </message>
</context>
<context>
    <name>Tools</name>
    <message>
        <source>%1 s</source>
        <translation>%1초</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>실패</translation>
    </message>
    <message>
        <source>running…</source>
        <translation>실행 중…</translation>
    </message>
    <message>
        <source>declined</source>
        <translation>허용하지 않음</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>중지됨</translation>
    </message>
    <message>
        <source>not known whether it ran</source>
        <translation>실행되었는지 알 수 없음</translation>
    </message>
    <message>
        <source>Calculated %1</source>
        <translation>%1 계산함</translation>
    </message>
    <message>
        <source>Calculate %1</source>
        <translation>%1 계산</translation>
    </message>
    <message>
        <source>Looked up the date and time</source>
        <translation>날짜와 시간 확인함</translation>
    </message>
    <message>
        <source>Look up the date and time</source>
        <translation>날짜와 시간 확인</translation>
    </message>
    <message>
        <source>Searched your chats for %1</source>
        <translation>채팅에서 %1 검색함</translation>
    </message>
    <message>
        <source>Search your chats for %1</source>
        <translation>채팅에서 %1 검색</translation>
    </message>
    <message>
        <source>Searched the documents for %1</source>
        <translation>문서에서 %1 검색함</translation>
    </message>
    <message>
        <source>Search the documents for %1</source>
        <translation>문서에서 %1 검색</translation>
    </message>
    <message>
        <source>Read %1</source>
        <translation>%1 읽음</translation>
    </message>
    <message>
        <source>Read %1</source>
        <comment>to do</comment>
        <translation>%1 읽기</translation>
    </message>
    <message>
        <source>Listed %1</source>
        <translation>%1 폴더 목록 확인함</translation>
    </message>
    <message>
        <source>List %1</source>
        <translation>%1 폴더 목록 확인</translation>
    </message>
    <message>
        <source>Loaded %1</source>
        <translation>%1 불러옴</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>%1 불러오기</translation>
    </message>
    <message>
        <source>what you chose</source>
        <translation>고른 항목</translation>
    </message>
    <message>
        <source>Go on?</source>
        <translation>계속할까요?</translation>
    </message>
    <message>
        <source>%1?</source>
        <translation>%1: 허용할까요?</translation>
    </message>
    <message>
        <source>Allow %1 to use %2?</source>
        <translation>%1의 %2 도구를 허용할까요?</translation>
    </message>
    <message>
        <source>This tool has changed since you allowed it. Both descriptions are below.</source>
        <translation>허용한 뒤에 이 도구가 바뀌었어요. 아래에 두 설명이 모두 있어요.</translation>
    </message>
    <message>
        <source>You allowed this, but the chat has read content from outside, which may have asked for it.</source>
        <translation>이미 허용한 도구지만, 이 채팅이 외부 내용을 읽었어요. 그 내용이 시킨 호출일 수도 있어요.</translation>
    </message>
    <message>
        <source>An equal call was sent before Hunch ended, and may have run already.</source>
        <translation>Hunch가 종료되기 전에 같은 호출을 보냈고, 이미 실행되었을 수 있어요.</translation>
    </message>
    <message>
        <source>Many calls have run without a question. Is this still what you want?</source>
        <translation>묻지 않고 실행한 호출이 많아요. 계속 실행할까요?</translation>
    </message>
    <message>
        <source>This reply has taken many steps.</source>
        <translation>이 답변은 이미 여러 단계를 거쳤어요.</translation>
    </message>
    <message>
        <source>When you allowed it</source>
        <translation>허용했을 때</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>지금</translation>
    </message>
    <message>
        <source>No arguments</source>
        <translation>인수 없음</translation>
    </message>
    <message>
        <source>Reads this file, and nothing else.</source>
        <translation>이 파일만 읽어요.</translation>
    </message>
    <message>
        <source>Reads the names of what is in this folder.</source>
        <translation>이 폴더에 있는 항목의 이름을 읽어요.</translation>
    </message>
    <message>
        <source>Loads this page. Its server sees your IP address.</source>
        <translation>이 페이지를 불러와요. 상대 서버가 IP 주소를 알 수 있어요.</translation>
    </message>
    <message>
        <source>Searches your chats and their attachments.</source>
        <translation>채팅과 첨부 파일을 검색해요.</translation>
    </message>
    <message>
        <source>Only reads, says its server. Hunch cannot check that.</source>
        <translation>서버에 따르면 읽기만 해요. Hunch에서는 확인할 수 없어요.</translation>
    </message>
    <message>
        <source>It may change or send something.</source>
        <translation>무언가를 바꾸거나 보낼 수 있어요.</translation>
    </message>
    <message>
        <source>Answer now</source>
        <translation>바로 답하기</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>계속</translation>
    </message>
    <message>
        <source>Don&apos;t allow</source>
        <translation>허용 안 함</translation>
    </message>
    <message>
        <source>Allow once</source>
        <translation>한 번 허용</translation>
    </message>
    <message>
        <source>In this chat</source>
        <translation>이 채팅에서 허용</translation>
    </message>
    <message>
        <source>Always</source>
        <translation>항상 허용</translation>
    </message>
    <message>
        <source>%1 is not called, and the model is told so</source>
        <translation>%1 도구를 호출하지 않고, 모델에 그 사실을 알려요</translation>
    </message>
    <message>
        <source>Allow %1 once, with these arguments</source>
        <translation>%1 도구를 이 인수로 한 번만 허용해요</translation>
    </message>
    <message>
        <source>Allow %1 in this chat, with any arguments</source>
        <translation>이 채팅에서는 인수와 관계없이 %1 도구를 허용해요</translation>
    </message>
    <message>
        <source>Allow %1 in every chat, with any arguments</source>
        <translation>모든 채팅에서 인수와 관계없이 %1 도구를 허용해요</translation>
    </message>
    <message>
        <source>Allow %1 in this chat, for addresses on this server</source>
        <translation>이 채팅에서 이 서버의 주소에 %1 도구를 허용해요</translation>
    </message>
    <message>
        <source>Allow %1 in every chat, for addresses on this server</source>
        <translation>모든 채팅에서 이 서버의 주소에 %1 도구를 허용해요</translation>
    </message>
    <message>
        <source>Built in</source>
        <translation>기본 제공</translation>
    </message>
    <message>
        <source>Calculator</source>
        <translation>계산기</translation>
    </message>
    <message>
        <source>Arithmetic, exactly. Never asks.</source>
        <translation>정확하게 계산해요. 묻지 않고 실행해요.</translation>
    </message>
    <message>
        <source>Date and time</source>
        <translation>날짜와 시간</translation>
    </message>
    <message>
        <source>What day and time it is, here and elsewhere. Never asks.</source>
        <translation>이곳과 다른 곳의 날짜와 시간을 알려 줘요. 묻지 않고 실행해요.</translation>
    </message>
    <message>
        <source>Search in chats</source>
        <translation>채팅 검색</translation>
    </message>
    <message>
        <source>Finds words in your chats and their attachments.</source>
        <translation>채팅과 첨부 파일에서 단어를 찾아요.</translation>
    </message>
    <message>
        <source>Read files</source>
        <translation>파일 읽기</translation>
    </message>
    <message>
        <source>Only those that you choose for a chat.</source>
        <translation>채팅에서 고른 것만 읽어요.</translation>
    </message>
    <message>
        <source>List folders</source>
        <translation>폴더 목록</translation>
    </message>
    <message>
        <source>Search documents</source>
        <translation>문서 검색</translation>
    </message>
    <message>
        <source>Finds passages in those of the chat and its project. Never asks.</source>
        <translation>채팅과 프로젝트의 문서에서 관련 부분을 찾아요. 묻지 않고 실행해요.</translation>
    </message>
    <message>
        <source>Only documents, and those that you choose for a chat.</source>
        <translation>문서와, 채팅에서 고른 파일만 읽어요.</translation>
    </message>
    <message>
        <source>Load a web page</source>
        <translation>웹 페이지 불러오기</translation>
    </message>
    <message>
        <source>Only one whose address you typed or allowed.</source>
        <translation>직접 입력했거나 허용한 주소만 불러와요.</translation>
    </message>
    <message>
        <source>%1 cannot use tools.</source>
        <translation>%1 모델은 도구를 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>No other installed model can.</source>
        <translation>설치된 다른 모델도 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>Installed and able to: %1.</source>
        <translation>쓸 수 있는 설치된 모델: %1.</translation>
    </message>
    <message>
        <source>Runs without asking.</source>
        <translation>묻지 않고 실행해요.</translation>
    </message>
    <message>
        <source>Ask again</source>
        <translation>다시 묻기</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>끔</translation>
    </message>
    <message>
        <source>Starts when a chat first needs it</source>
        <translation>채팅에서 처음 쓸 때 시작해요</translation>
    </message>
    <message>
        <source>Starting…</source>
        <translation>시작하는 중…</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>실행 중</translation>
    </message>
    <message>
        <source>Looking for its sign-in…</source>
        <translation>로그인 페이지를 찾는 중…</translation>
    </message>
    <message>
        <source>Sign in at %1, in your browser.</source>
        <translation>브라우저에서 %1에 로그인하세요.</translation>
    </message>
    <message>
        <source>Hunch has what it needs. You can close this page.</source>
        <translation>Hunch가 필요한 정보를 받았어요. 이 페이지를 닫아도 돼요.</translation>
    </message>
    <message>
        <source>You did not sign in. You can close this page.</source>
        <translation>로그인하지 않았어요. 이 페이지를 닫아도 돼요.</translation>
    </message>
    <message>
        <source>This is not the sign-in that Hunch is waiting for.</source>
        <translation>Hunch가 기다리는 로그인이 아니에요.</translation>
    </message>
    <message>
        <source>Needs %1, which is not on this Mac.</source>
        <translation>이 Mac에 없는 %1 프로그램이 필요해요.</translation>
    </message>
    <message>
        <source>Its folder %1 does not exist.</source>
        <translation>%1 폴더가 없어요.</translation>
    </message>
    <message>
        <source>Needs a value for %1.</source>
        <translation>%1 값이 필요해요.</translation>
    </message>
    <message>
        <source>Cannot be started: %1</source>
        <translation>시작할 수 없어요: %1</translation>
    </message>
    <message>
        <source>It ended by itself (%1).</source>
        <translation>스스로 종료됐어요(%1).</translation>
    </message>
    <message>
        <source>It sent more than %1 MB at once and was stopped.</source>
        <translation>한 번에 %1MB 넘게 보내서 중단했어요.</translation>
    </message>
    <message>
        <source>No answer in %1 seconds.</source>
        <translation>%1초 동안 응답이 없어요.</translation>
    </message>
    <message>
        <source>It refused: %1</source>
        <translation>거절했어요: %1</translation>
    </message>
    <message>
        <source>Cannot be reached: %1</source>
        <translation>연결할 수 없어요: %1</translation>
    </message>
    <message>
        <source>It wants a sign-in (%1). A key in its headers may do.</source>
        <translation>로그인이 필요해요(%1). 헤더에 키를 넣으면 될 수도 있어요.</translation>
    </message>
    <message>
        <source>The sign-in took more than %1 minutes.</source>
        <translation>로그인이 %1분을 넘겼어요.</translation>
    </message>
    <message>
        <source>The sign-in was refused (%1).</source>
        <translation>로그인이 거부됐어요(%1).</translation>
    </message>
    <message>
        <source>It wants the sign-in at %1 now, not where it was before. Sign out first if that is right.</source>
        <translation>이제 %1에서 로그인하라고 해요. 전과 다른 곳이에요. 맞다면 먼저 로그아웃하세요.</translation>
    </message>
    <message>
        <source>A call needs more than you allowed at the sign-in (%1). Sign in again to allow it.</source>
        <translation>로그인할 때 허용한 것보다 넓은 권한(%1)이 필요한 호출이 있어요. 허용하려면 다시 로그인하세요.</translation>
    </message>
    <message>
        <source>%1 cannot be the name of a variable or header.</source>
        <translation>%1: 변수나 헤더 이름으로 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>The value of %1 cannot be used.</source>
        <translation>%1 값은 쓸 수 없어요.</translation>
    </message>
    <message>
        <source>More than %1 are not taken.</source>
        <translation>%1개까지만 받아요.</translation>
    </message>
    <message>
        <source>Only https addresses, and ones on this Mac.</source>
        <translation>https 주소나 이 Mac의 주소만 쓸 수 있어요.</translation>
    </message>
    <message>
        <source>Its command has characters that cannot be seen.</source>
        <translation>명령에 보이지 않는 문자가 있어요.</translation>
    </message>
    <message>
        <source>It sent too many messages and was stopped.</source>
        <translation>메시지를 너무 많이 보내서 중단했어요.</translation>
    </message>
    <message>
        <source>It asks for input, which Hunch does not give.</source>
        <translation>입력을 요구하지만 Hunch는 응하지 않아요.</translation>
    </message>
    <message>
        <source>Sign in to use it.</source>
        <translation>사용하려면 로그인하세요.</translation>
    </message>
    <message>
        <source>It offers no sign-in that Hunch can use. A key in its headers may do.</source>
        <translation>Hunch가 쓸 수 있는 로그인을 제공하지 않아요. 헤더에 키를 넣으면 될 수도 있어요.</translation>
    </message>
    <message>
        <source>Its sign-in is only for apps that it knows. A key in its headers may do.</source>
        <translation>등록된 앱만 로그인할 수 있어요. 헤더에 키를 넣으면 될 수도 있어요.</translation>
    </message>
    <message>
        <source>The sign-in failed.</source>
        <translation>로그인하지 못했어요.</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>중지됨</translation>
    </message>
    <message>
        <source>It closed its connection.</source>
        <translation>연결을 닫았어요.</translation>
    </message>
    <message>
        <source>It speaks another version of MCP.</source>
        <translation>다른 버전의 MCP를 써요.</translation>
    </message>
    <message>
        <source>Hunch&apos;s part for tools ended. The next call starts it again.</source>
        <translation>Hunch의 도구 프로세스가 끝났어요. 다음 호출 때 다시 시작해요.</translation>
    </message>
    <message>
        <source>Hunch&apos;s part for tools cannot be started.</source>
        <translation>Hunch의 도구 프로세스를 시작할 수 없어요.</translation>
    </message>
    <message>
        <source>What it was to be called with is not valid.</source>
        <translation>호출에 쓸 인수가 올바르지 않아요.</translation>
    </message>
    <message>
        <source>It does not speak the protocol of tool servers (MCP).</source>
        <translation>도구 서버 프로토콜(MCP)을 쓰지 않아요.</translation>
    </message>
</context>
<context>
    <name>ToolsPage</name>
    <message>
        <source>What a model may do besides writing. Which of them, you choose for each chat, in the composer.</source>
        <translation>모델이 글쓰기 말고도 할 수 있는 일이에요. 어떤 도구를 쓸지는 채팅마다 입력란에서 골라요.</translation>
    </message>
    <message>
        <source>Tool servers (MCP)</source>
        <translation>도구 서버(MCP)</translation>
    </message>
    <message>
        <source>Add a server</source>
        <translation>서버 추가</translation>
    </message>
    <message>
        <source>None yet. A server gives models more tools: for files, calendars, code, the web and others.</source>
        <translation>아직 없어요. 서버를 추가하면 파일, 캘린더, 코드, 웹 등에 쓰는 도구가 늘어나요.</translation>
    </message>
</context>
<context>
    <name>Totals</name>
    <message>
        <source>By pair</source>
        <translation>조합별</translation>
    </message>
    <message>
        <source>By language</source>
        <translation>언어별</translation>
    </message>
    <message>
        <source>By content</source>
        <translation>내용별</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>시간</translation>
    </message>
    <message>
        <source>English</source>
        <translation>영어</translation>
    </message>
    <message>
        <source>Korean</source>
        <translation>한국어</translation>
    </message>
    <message>
        <source>Japanese</source>
        <translation>일본어</translation>
    </message>
    <message>
        <source>Chinese</source>
        <translation>중국어</translation>
    </message>
    <message>
        <source>Prose</source>
        <translation>글</translation>
    </message>
    <message>
        <source>Code</source>
        <translation>코드</translation>
    </message>
    <message>
        <source>Lists and tables</source>
        <translation>목록과 표</translation>
    </message>
    <message>
        <source>Other</source>
        <translation>기타</translation>
    </message>
    <message>
        <source>Clear all statistics?</source>
        <translation>통계를 모두 지울까요?</translation>
    </message>
    <message>
        <source>Chats and their figures stay.</source>
        <translation>채팅과 답변 아래의 수치는 남아요.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln reply(s)</source>
        <translation>
            <numerusform>답변 %Ln개</numerusform>
        </translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>지우기</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Totals</source>
        <translation>합계</translation>
    </message>
    <message>
        <source>Totals appear after the first reply.</source>
        <translation>첫 답변이 끝나면 합계가 나와요.</translation>
    </message>
    <message>
        <source>Clear statistics…</source>
        <translation>통계 지우기…</translation>
    </message>
</context>
<context>
    <name>TranscriptMenu</name>
    <message>
        <source>Copy</source>
        <translation>복사</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>마크다운으로 복사</translation>
    </message>
    <message>
        <source>Quote</source>
        <translation>인용</translation>
    </message>
    <message>
        <source>Select All</source>
        <translation>전체 선택</translation>
    </message>
    <message>
        <source>Copy as TeX</source>
        <translation>TeX로 복사</translation>
    </message>
    <message>
        <source>Copy Link</source>
        <translation>링크 복사</translation>
    </message>
</context>
<context>
    <name>TranscriptView</name>
    <message>
        <source>Your message, %1 of %2</source>
        <translation>내 메시지, %2개 중 %1번째</translation>
    </message>
    <message>
        <source>Reply, message %1 of %2</source>
        <translation>답변, 메시지 %2개 중 %1번째</translation>
    </message>
    <message>
        <source>Footnote %1</source>
        <translation>각주 %1</translation>
    </message>
    <message>
        <source>Back from footnote %1</source>
        <translation>각주 %1에서 본문으로</translation>
    </message>
    <message>
        <source>Link: %1</source>
        <translation>링크: %1</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>메시지</translation>
    </message>
</context>
<context>
    <name>Trash</name>
    <message>
        <source>Messages in “%1”</source>
        <translation>‘%1’의 메시지</translation>
    </message>
    <message>
        <source>deleted today</source>
        <translation>오늘 삭제</translation>
    </message>
    <message>
        <source>deleted yesterday</source>
        <translation>어제 삭제</translation>
    </message>
    <message>
        <source>deleted on %1</source>
        <translation>%1 삭제</translation>
    </message>
</context>
<context>
    <name>TrashMenu</name>
    <message>
        <source>Restore “%1”</source>
        <translation>‘%1’ 복구</translation>
    </message>
    <message>
        <source>Restore Messages in “%1”</source>
        <translation>‘%1’의 메시지 복구</translation>
    </message>
    <message>
        <source>Nothing in the last 30 days</source>
        <translation>최근 30일 동안 없음</translation>
    </message>
    <message>
        <source>Show All…</source>
        <translation>모두 보기…</translation>
    </message>
</context>
<context>
    <name>TrashWindow</name>
    <message numerus="yes">
        <source>Permanently delete %Ln item(s)?</source>
        <translation>
            <numerusform>항목 %Ln개를 완전히 삭제할까요?</numerusform>
        </translation>
    </message>
    <message>
        <source>Delete permanently</source>
        <translation>완전히 삭제</translation>
    </message>
    <message>
        <source>Empty Recently Deleted?</source>
        <translation>‘최근 삭제한 항목’을 비울까요?</translation>
    </message>
    <message>
        <source>Empty</source>
        <translation>비우기</translation>
    </message>
    <message>
        <source>Backups included. This cannot be undone.</source>
        <translation>백업에서도 지워지고, 되돌릴 수 없어요.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>취소</translation>
    </message>
    <message>
        <source>Recently Deleted</source>
        <translation>최근 삭제한 항목</translation>
    </message>
    <message>
        <source>Nothing deleted in the last 30 days.</source>
        <translation>최근 30일 동안 삭제한 항목이 없어요.</translation>
    </message>
    <message>
        <source>Recently deleted chats and messages</source>
        <translation>최근 삭제한 채팅과 메시지</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>복구</translation>
    </message>
    <message>
        <source>Delete permanently…</source>
        <translation>완전히 삭제…</translation>
    </message>
    <message>
        <source>Empty…</source>
        <translation>비우기…</translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>Open Hunch</source>
        <translation>Hunch 열기</translation>
    </message>
    <message>
        <source>Quick Ask…</source>
        <translation>빠른 질문…</translation>
    </message>
    <message>
        <source>New Chat</source>
        <translation>새 채팅</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>Hunch 종료</translation>
    </message>
    <message>
        <source>No model loaded</source>
        <translation>불러온 모델 없음</translation>
    </message>
    <message>
        <source>No model in memory</source>
        <translation>메모리에 모델이 없어요</translation>
    </message>
    <message>
        <source>Loading %1…</source>
        <translation>%1 불러오는 중…</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>%1 불러오기 실패</translation>
    </message>
    <message numerus="yes">
        <source>%Ln reply(s) being written</source>
        <translation>
            <numerusform>답변 %Ln개를 쓰는 중</numerusform>
        </translation>
    </message>
    <message>
        <source>Not writing</source>
        <translation>쓰고 있는 답변이 없어요</translation>
    </message>
</context>
<context>
    <name>UnseenNote</name>
    <message>
        <source>%1 only answers about pictures.</source>
        <translation>%1 모델은 이미지에 대한 질문에만 답해요.</translation>
    </message>
    <message>
        <source>%1 cannot see pictures.</source>
        <translation>%1 모델은 이미지를 볼 수 없어요.</translation>
    </message>
    <message>
        <source>%1 can, about %2.</source>
        <translation>%1 모델은 볼 수 있어요(약 %2).</translation>
    </message>
    <message>
        <source>Use %1</source>
        <translation>%1 사용</translation>
    </message>
    <message>
        <source>Install %1</source>
        <translation>%1 설치</translation>
    </message>
    <message>
        <source>Find one that can</source>
        <translation>볼 수 있는 모델 찾기</translation>
    </message>
</context>
<context>
    <name>Updates</name>
    <message>
        <source>Hunch %1 is available</source>
        <translation>Hunch %1 버전이 나왔어요</translation>
    </message>
    <message>
        <source>What&apos;s New</source>
        <translation>새로운 기능</translation>
    </message>
    <message>
        <source>To update, run in a terminal: %1</source>
        <translation>업데이트하려면 터미널에서 실행하세요: %1</translation>
    </message>
    <message>
        <source>Hunch %1</source>
        <translation>Hunch %1</translation>
    </message>
    <message>
        <source>Open Page</source>
        <translation>페이지 열기</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>닫기</translation>
    </message>
    <message>
        <source>Copy Command</source>
        <translation>명령 복사</translation>
    </message>
</context>
<context>
    <name>WaitingStart</name>
    <message>
        <source>Your chats are open on %1.</source>
        <translation>%1에서 채팅이 열려 있어요.</translation>
    </message>
    <message>
        <source>Quit Hunch there first.</source>
        <translation>먼저 그곳의 Hunch를 종료하세요.</translation>
    </message>
    <message>
        <source>Another copy of Hunch has your chats open and is not responding.</source>
        <translation>다른 Hunch가 채팅을 열어 둔 채 응답하지 않아요.</translation>
    </message>
    <message>
        <source>Force quit it if it does not quit by itself.</source>
        <translation>저절로 종료되지 않으면 강제 종료하세요.</translation>
    </message>
    <message>
        <source>Quit Hunch</source>
        <translation>Hunch 종료</translation>
    </message>
</context>
<context>
    <name>YoursPage</name>
    <message>
        <source>Models folder</source>
        <translation>모델이 있는 폴더</translation>
    </message>
    <message>
        <source>Installed</source>
        <translation>설치됨</translation>
    </message>
    <message>
        <source>Refresh</source>
        <translation>새로 고침</translation>
    </message>
    <message>
        <source>More folders</source>
        <translation>다른 폴더</translation>
    </message>
    <message>
        <source>Their models are listed, never changed.</source>
        <translation>이 폴더의 모델도 목록에 나와요. 내용은 바꾸지 않아요.</translation>
    </message>
    <message>
        <source>Add folder…</source>
        <translation>폴더 추가…</translation>
    </message>
</context>
<context>
    <name>_Calls</name>
    <message numerus="yes">
        <source>Allow %1 to make %Ln call(s)?</source>
        <translation>
            <numerusform>%1의 호출 %Ln건을 허용할까요?</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Counts</name>
    <message numerus="yes">
        <source>%Ln message(s)</source>
        <translation>
            <numerusform>메시지 %Ln개</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln day(s) left</source>
        <translation>
            <numerusform>%Ln일 남음</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln download(s)</source>
        <translation>
            <numerusform>다운로드 %Ln회</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s)</source>
        <translation>
            <numerusform>토큰 %Ln개</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln tool(s) on</source>
        <translation>
            <numerusform>도구 %Ln개 켜짐</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Passes</name>
    <message numerus="yes">
        <source>Without a draft: %1 tok/s, measured on %Ln token(s). Between %2× and %3×.</source>
        <translation>
            <numerusform>초안이 없으면 초당 %1토큰이에요(토큰 %Ln개로 측정). %2~%3배 사이예요.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_RaceCounts</name>
    <message numerus="yes">
        <source>Same text: %Ln token(s).</source>
        <translation>
            <numerusform>텍스트가 같아요: 토큰 %Ln개.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Median of %Ln pair(s) of laps.</source>
        <translation>
            <numerusform>%Ln쌍의 중앙값.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>_Words</name>
    <message numerus="yes">
        <source>Copied without %Ln control character(s)</source>
        <translation>
            <numerusform>제어 문자 %Ln개를 빼고 복사했어요</numerusform>
        </translation>
    </message>
</context>
</TS>
