"""How failures are worded: heads, outcomes and error pages, in several languages.

All patterns are re2: they meet hostile text, and run in linear time.
"""

# ruff: noqa: E501, RUF001 - patterns read best by the line, and in their own scripts
from __future__ import annotations

from analysis.detectors.reading.patterns import Pattern
from analysis.detectors.reading.words import word_set

_STATUS = (
    r"(?:bad request|unauthori[sz]ed|payment required|forbidden|not found|method not allowed|"
    r"not acceptable|request time-?out|conflict|gone|precondition failed|payload too large|"
    r"unprocessable (?:entity|content)|locked|too many requests|internal server error|"
    r"not implemented|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|"
    r"client error|server error|error)"
)

# A text that begins like this is a failure, whatever tool it comes from.
HEAD = Pattern(
    r"(?i)^[\s\"'`*_#>\[({<|~✗❌⚠️⛔🚫-]{0,12}"
    # "[tool] ", "get_user: " before the words themselves
    r"(?:\[[\w .:/-]{1,40}\]\s*|[\w./-]{1,40}:\s+)?"
    r"(?:"
    r"(?:(?:an?|the|your|tool|api|http|https|server|system|internal|runtime|request|execution|network|"
    r"database|db|sql|mcp|unexpected|unhandled|uncaught|fatal|critical|unknown|validation|parse|parsing|"
    r"syntax|connection|authentication|authorization|permission|type|value|key|input|output|command|"
    r"function|call|remote|upstream|backend|service|client|query|access|timeout|general|unspecified|"
    r"pydantic|python|java|node)[ _-]){0,4}"
    r"(?:error|exception|failure|fault|fehler|ausnahme|fehlgeschlagen|erreur|échec|errore|erro|falha|fallo|fout|"
    r"ошибка|сбой|błąd|hata|fel|virhe|chyba|hiba|lỗi|त्रुटि|エラー|错误|錯誤|异常|失败|失敗|오류|실패|خطأ|שגיאה)"
    r"(?:[*_`\"'\]]{0,3}\s*(?:[:：!(\[—–]|-\s)|\s*$|\s*\n|\s+(?:executing|running|calling|while|when|occurred|code|reading|"
    r"writing|parsing|processing|invoking|performing|fetching|opening|connecting|loading|sending|"
    r"saving|updating|creating|deleting|retrieving|in (?:tool|function|call)|from (?:tool|server|api)|"
    r"\d{3,5}\b|has occurred|was returned|beim?|bei|lors|al|ao|при|podczas)\b?)"
    r"|(?:Uncaught (?:\(in promise\) )?)?[\w.$]{0,60}(?:Error|Exception|Timeout|Refused|Denied|Fault|Violation|Failure|NotFound|Unavailable|Exceeded|Forbidden|Unauthorized|Aborted|Conflict)\s*(?::|\(|$)"
    r"|traceback \(most recent call last\)"
    r"|(?:http(?:/[\d.]+)?|status(?: ?code)?|response(?: ?code| ?status)?|code)\s*[:=]?\s*[45]\d\d\b"
    r"|[45]\d\d\s*[:,-]?\s*" + _STATUS + r"|"
    r"failed(?:\s*[:!]|\s+to\s|\s+(?:because|due|with|while|after|when|on|at)\b|\s*$)"
    r"|fatal:|npm err!|panic:|segmentation fault|err(?:or)?\s*=|e_[a-z]{4,}|(?-i:E[A-Z]{4,}:)|"
    r"ora-\d{5}|sqlstate|\*\*\*+\s*error"
    r")"
)

# The heads that a document does not have: no number, no heading, no name before them.
STRICT_HEAD = Pattern(
    r"(?i)^[\s\"'`*❌⛔🚫-]{0,6}(?:(?:tool |api |http |server |internal |runtime |request |fatal |unexpected )?(?:error|exception|failure)"
    r"[*_`\"']{0,3}(?:\s*[:：!]\s|\s*[:：!]?\s*$|\s+(?:executing|calling|fetching|reading|opening|loading|retrieving|connecting|parsing|"
    r"while|occurred)\b)|(?:uncaught (?:\(in promise\) )?)?(?-i:[A-Za-z_][\w.]{0,60}(?:Error|Exception|Timeout|Refused|Denied|Fault|Violation|Failure|NotFound|Unavailable|Exceeded|Forbidden|Unauthorized|Aborted|Conflict)): |traceback \(most recent call last\)|"
    r"(?:http(?:/[\d.]+)?|status(?: ?code)?)\s*[:=]?\s*[45]\d\d\b|[45]\d\d\s*[:,-]?\s*"
    + _STATUS
    + r"\s*[.!:]?\s*(?:$|\n|:| for )|"
    r"failed to \w+|(?:permission|access) denied|request (?:timed out|failed)|(?:could|can) ?not \w+|unable to \w+|"
    r"(?:file|page|document|ticket|url|article|record|resource|path|item)\b[^.\n]{0,80} (?:was |is )?not found\b|"
    r"(?:fehler|erreur|errore|erro|fout|ошибка|błąd|hata|エラー|错误|錯誤|오류)(?:\s[\w ]{1,30})?\s*[:：]|"
    r"(?:received|got|returned|server returned) (?:an? )?(?:http )?(?:\w+ ){0,2}(?:code|status)[: ]+[45]\d\d)"
)

# A warning is followed by what was warned about, and the work goes on.
WARNING_HEAD = Pattern(
    r"(?i)^\W{0,6}(?:warn(?:ing)?|note|notice|info|hint|deprecat\w*|debug)\b\s*[:\]]"
)

# A text that begins like this tells of a success: words of failure that follow are part of a story.
GOOD_HEAD = Pattern(
    r"(?i)^[\s\"'`*✓✔✅🎉\[-]{0,6}(?:success(?:ful(?:ly)?)?|ok\b|okay|done\b|completed?\b|created|updated|changed|modified|moved|written|wrote|stored|"
    r"sent\b|saved|deleted|removed|added|applied|booked|cancell?ed|scheduled|resolved|fixed|found \d|"
    r"no (?:errors?|issues|problems|failures)|0 (?:errors?|failures)|all (?:tests|checks) pass|passed)"
)

# What a short answer of failure says, wherever in it.
OUTCOME = Pattern(
    r"(?i)\b(?:"
    r"(?:permission|access|authori[sz]ation|request|login|authentication|operation|action|change|update|write|command|query|"
    r"transaction|payment|order|booking|upload|message)(?: (?:is|was|were|has been|got))? "
    r"(?:denied|refused|rejected|failed|forbidden|declined|disallowed|prohibited|vetoed|turned down|blocked)|"
    r"(?:permission|authori[sz]ation|authentication|login) (?:is )?required|"
    r"(?:declined|rejected|refused|blocked|denied|vetoed) by|not (?:accepted|processed|executed|completed|honou?red|carried out)|no longer valid|"
    r"(?:issuer|bank|server|gateway|provider|upstream|back ?end|directory|policy|host|system|service|registry|broker) (?:has )?(?:refused|rejected|denied|declined|aborted)|"
    r"not (?:been )?(?:authori[sz]ed|authenticated|permitted|entitled|allowed|granted|implemented|reachable|responding|signed in|"
    r"logged in)|unauthori[sz]ed|forbidden|"
    r"(?:insufficient|missing|lacks?|without|no)(?: the)?(?: required| necessary| sufficient)? "
    r"(?:permissions?|privileges?|rights|scopes?|access rights|credentials?|authori[sz]ation|access to)|"
    r"(?:do(?:es)?|did|has|have|had) ?(?:not|n't) have (?:the )?(?:\w+ ){0,3}(?:permissions?|privileges?|rights|role|scope|access)|"
    r"timed[ -]?out|time-?out (?:after|while|waiting|exceeded|error|reached|expired)|deadline exceeded|took too long|"
    r"connection (?:was |is |has been )?(?:refused|reset|closed|aborted|error|failed|lost|dropped|timed)|"
    r"(?:could|can|would|was|were|is|are|did|does|do|has|have) ?(?:not|n[’']t) (?:be |been )?"
    r"(?:able|connect\w*|resolve\w*|found|find|complet\w*|process\w*|reach\w*|read\w*|open\w*|load\w*|"
    r"creat\w*|updat\w*|delet\w*|sav\w*|sen[dt]\w*|appl\w*|chang\w*|modif\w*|execut\w*|run|perform\w*|retriev\w*|"
    r"fetch\w*|get|obtain\w*|access\w*|pars\w*|validat\w*|verif\w*|authenticat\w*|do|handle\w*|reset|establish\w*|"
    r"determin\w*|locat\w*|match\w*|recogni[sz]e\w*|available|support\w*|exist|valid|accept\w*|succeed\w*|finish\w*|"
    r"respond\w*)|"
    r"(?:un|not )able to|failed to|failed with|failed because|has failed|have failed|failed:|(?:operation|request|call|query|update|"
    r"command|execution|job|transaction|upload|download|lookup|search|validation|verification|tool) "
    r"(?:has |was |is )?(?:failed|aborted|cancell?ed|rejected|denied|refused|rolled back|interrupted|unsuccessful)|"
    r"service (?:is )?(?:currently |temporarily )?(?:unavailable|down|offline)|"
    r"(?:temporarily|currently) (?:unavailable|offline|down)|(?:is|was|are) (?:currently )?(?:unavailable|unreachable|offline|down for)|"
    r"(?:http )?(?:status|response)(?: code)?\s*(?:of|was|is|:|=)?\s*[45]\d\d|http [45]\d\d|can no longer be \w+|"
    r"internal (?:server )?error|bad gateway|gateway time-?out|"
    r"too many requests|rate[ -]limit(?:ed|s)?(?: exceeded| reached| hit)?|(?:quota|limit) (?:exceeded|reached|exhausted)|"
    r"(?:was |were |is |are )?not found|(?:do(?:es)?|did) ?(?:not|n[’']t) exist|no such \w+|"
    r"no \w+(?: \w+)? (?:exists?|with (?:that|this|the given) \w+)|"
    r"(?:invalid|malformed|unrecogni[sz]ed|unsupported) (?:\w+ ){0,3}\w+|(?:bad|illegal|unexpected) (?:request|gateway|credentials?|input|"
    r"arguments?|parameters?|format|value|token|error|end of|character|keyword|response|status|operation|state)|"
    r"missing (?:\w+ ){0,3}(?:parameters?|arguments?|fields?|values?|keys?|header|token|input|property|"
    r"credentials?)|(?:validation|schema|type|syntax|parse) errors?|"
    r"unknown (?:tool|function|command|argument|parameter|method|error|option|field|host|user|id)|"
    r"something went wrong|an? (?:\w+ )?(?:error|exception|problem|failure) (?:has )?(?:occurred|happened|was)|"
    r"went wrong|encountered an? (?:\w+ )?(?:error|problem|exception)|unsuccessful|"
    r"command not found|no route to host|out of memory|no space left|disk (?:is )?full|"
    r"(?:token|session|credentials?|certificate|password|licen[cs]e|api key|key)(?: has| is| was)? "
    r"(?:expired|invalid|revoked|missing)|expired (?:token|session|credential|certificate)|"
    r"(?:was|were|is) not (?:changed|saved|sent|updated|applied|reset|created|deleted|written|processed|"
    r"completed|modified|executed|delivered)|(?:no|nothing|none) (?:\w+ )?(?:was|were|has been) "
    r"(?:changed|done|updated|saved|sent|applied|modified|made)|no changes? (?:made|applied)|"
    r"rolled back|exit(?:ed)?(?: with)? (?:code|status)[ :=]+(?:[1-9]\d*|-\d+)"
    r")"
)

# What a tool for changes says when it did not; from a tool that reads, it may be the answer.
OUTCOME_OF_A_CHANGE = Pattern(
    r"(?i)\b(?:(?:is|are) (?:a )?required|must (?:be|have|contain|match|not)|cannot\b|can't\b|(?:please )?(?:try|retry) again|"
    r"(?:could|can|would|was|were|is|are|did|does|do|has|have) ?(?:not|n['\x{2019}]t) (?:be |been )?(?:book|cancel|start|stop|assign|deliver)\w*|"
    r"already (?:exists?|taken|booked|closed|in use)|not enough|insufficient|"
    r"no (?:longer )?(?:valid|available|possible)|conflicts? with|limit (?:of|reached|exceeded)|not (?:done|changed|applied|made|possible))\b"
)

# The same, in other languages. No word boundaries: many of these write without spaces.
OUTCOME_ABROAD = Pattern(
    r"(?i)(?:"
    # German
    r"zugriff (?:wurde )?(?:verweigert|abgelehnt)|keine berechtigung|nicht berechtigt|nicht gefunden|existiert nicht|"
    r"fehlgeschlagen|zeitüberschreitung|konnte nicht|konnten nicht|kann nicht|nicht verfügbar|ungültige|"
    r"fehler (?:beim?|ist|aufgetreten)|wurde (?:abgelehnt|verweigert|zurückgewiesen)|nicht (?:erreichbar|autorisiert|angemeldet|möglich|zugelassen)|abgelaufen|gescheitert|abgebrochen|"
    # French
    r"accès (?:refusé|interdit)|permission refusée|introuvable|non (?:trouvé|autorisé|disponible)|n['’]existe pas|"
    r"a échoué|a été (?:rejeté|refusé)|délai (?:d['’]attente )?dépassé|impossible d|une erreur|erreur (?:lors|interne|de|du)\b|indisponible|invalide|"
    # Spanish
    r"acceso denegado|permiso denegado|no autorizado|no (?:se )?(?:encontrad|encontró|pudo|existe|disponible)|"
    r"tiempo de espera|error (?:al|en|de|interno)\b|ha fallado|falló|(?:fue|ha sido) (?:rechazad|denegad)|no es válid|inválid|servicio no disponible|se ha producido un error|"
    # Portuguese
    r"acesso negado|permissão negada|não (?:autorizado|encontrad|existe|foi possível|disponível|pôde)|tempo (?:limite|esgotado)|falhou|foi (?:rejeitad|negad|recusad)|"
    r"erro (?:ao|interno|de|na|no)\b|ocorreu um erro|indisponível|"
    # Italian
    r"accesso negato|permesso negato|non (?:autorizzato|trovat|esiste|disponibile|è stato possibile|valid)|"
    r"tempo scaduto|è stat[oa] (?:rifiutat|respint)|errore (?:interno|durante|di|nel)\b|si è verificato un errore|impossibile|"
    # Dutch, Swedish, Danish, Norwegian, Finnish
    r"toegang geweigerd|niet (?:gevonden|toegestaan|beschikbaar|gemachtigd)|bestaat niet|mislukt|kon niet|er is een fout|"
    r"åtkomst nekad|hittades inte|misslyckades|adgang nægtet|ikke fundet|mislykkedes|ikke funnet|tilgang nektet|pääsy (?:estetty|evätty)|ei löydy|epäonnistui|"
    # Polish, Czech, Hungarian, Romanian
    r"odmowa dostępu|brak (?:uprawnień|dostępu)|nie (?:znaleziono|istnieje|można|udało)|przekroczono|nieprawidłow|"
    r"přístup odepřen|nenalezen|neexistuje|selhal|hozzáférés megtagadva|nem található|sikertelen|acces(?:ul)? (?:interzis|refuzat)|nu (?:există|a fost găsit)|eșuat|"
    # Turkish, Vietnamese, Indonesian
    r"erişim (?:engellendi|reddedildi)|bulunamadı|başarısız|zaman aşımı|izin (?:yok|verilmedi)|yetki(?:niz)? yok|"
    r"không (?:tìm thấy|thể|có quyền|tồn tại)|thất bại|bị từ chối|hết thời gian|"
    r"akses ditolak|tidak (?:ditemukan|diizinkan|tersedia|dapat)|gagal|"
    # Russian, Ukrainian
    r"доступ (?:запрещ|заборонен)|отказано|не (?:найден|существует|удалось|може|знайдено|вдалося)|нет (?:прав|доступа)|"
    r"превышено|истекло|произошла ошибка|недоступ|помилка|"
    # Hindi, Arabic, Hebrew
    r"नहीं मिला|अनुमति नहीं|विफल|असफल|पहुँच अस्वीकृत|अमान्य|تم رفض|غير (?:موجود|مصرح|متاح|صالح)|فشل|انتهت (?:المهلة|مهلة)|לא נמצא|נדחתה|נכשל|אין הרשאה|"
    # Chinese, Japanese, Korean
    r"权限(?:不足|被拒)|權限不足|拒绝访问|访问被拒|存取被拒|未找到|找不到|不存在|超时|逾時|无法|無法|失败|失敗|出错|出現錯誤|错误[:：]|无权|無權|未授权|"
    r"アクセスが?拒否|権限がありません|見つかりません|存在しません|タイムアウト|できません|できませんでした|エラーが|許可されていません|"
    r"액세스(?:가)? 거부|권한이 없|찾을 수 없|존재하지 않|시간(?:이)? 초과|할 수 없|실패(?:했|하)|오류가"
    r")"
)

# Words of no result, which answer the question: a search without a hit is no failure.
NO_HITS = Pattern(
    r"(?i)\b(?:no|0|zero|nothing|none)\b(?: \w+){0,4} (?:found|matched|match|matches|matching|results?|available|for)\b|"
    r"\bno (?:\w+ ){0,3}(?:results?|matches|hits|records?|rows|items|entries|articles?|documents?|tickets?|"
    r"messages?|events?|orders?|flights?|files? (?:found|matched))\b|"
    r"\b(?:nothing|none) (?:was )?found\b|\bnot find any\b|\bno matches\b|keine (?:treffer|ergebnisse)|没有找到|未找到(?:任何)?(?:匹配|结果|记录)|"
    r"\b(?:nothing|none|nobody) (?:\w+ ){0,3}(?:match\w*|came|fits?|here|yet|new|open|due|pending)\b|\b(?:could|did|do|does)(?: ?not|n't) "
    r"(?:find|return|match|have|contain|list|show) any\w*\b|(?:came|come|comes) back empty|"
    r"\b(?:kein|keine|keinen|keinerlei|aucune?|ningun[oa]?|ningún|nessun[oa]?|nenhuma?|geen|ingen|inga|inget|ingenting|brak|żadn\w+|žádn\w+) "
    r"(?:\w+ ){0,4}(?:gefunden|treffer|ergebnis\w*|einträge?|datensätze?|vorhanden|trouvée?s?|résultats?|correspond\w*|encontrad\w+|"
    r"resultados?|registros?|coincid\w+|trovat\w+|risultat\w+|corrispond\w+|gevonden|resultaten|treff\w*|resultat\w*|wyników|výsledk\w+)|"
    r"(?:ничего|не|нет)(?: \pL+){0,3} (?:найдено|результат\pL*|записей|совпадений|соответств\pL*)|нет (?:результат|запис|совпаден)|"
    r"(?:sonuç|kayıt|eşleşme) (?:bulunamadı|yok)|tidak ada (?:hasil|data|catatan)|không (?:có|tìm thấy) (?:kết quả|dữ liệu|bản ghi)|"
    r"(?:没有|未|無|无|查无)(?:找到|查到|检索到|符合|匹配|相关)?[^。，,]{0,10}(?:匹配|结果|記錄|记录|条目|数据|符合|相关)|"
    r"(?:該当|一致|検索結果|結果|データ|件)[^。]{0,12}(?:見つかりません|ありません|なし)|0 ?件|(?:검색 ?결과|일치하는|해당)[^.]{0,14}(?:없|찾을 수 없)|"
    r"कोई [^।]{0,20}(?:नहीं मिल|परिणाम नहीं)|لا توجد (?:نتائج|سجلات)|لم يتم العثور على (?:أي )?(?:نتائج|سجلات)|"
    r"aucun résultat|sin resultados|no se encontraron resultados|nenhum resultado|nessun risultato|没有结果|結果はありません"
)

# Errors that are counted or denied, not told of.
NEGATED = Pattern(
    r"(?i)\b(?:no|none of|not a single|not one|without|zero|0|never|nothing|neither|nobody|free of)(?: \w+){0,3} (?:fail\w*|errors?|denied|"
    r"denials|refused|rejected|rejections|timed out|time-?outs?|exceptions?|crash\w*|faults?|incidents?|invalid|expired|blocked|unavailable|"
    r"unreachable|outages?|alarms?|alerts?|violations?|warnings?|problems?|conflicts?)\b|\b(?:error|fault|failure|trouble|incident)[- ]free\b|"
    r"fehlerfrei|störungsfrei|felfri|fejlfri|feilfri|foutloos|sin (?:incidencias|novedad)|sem incidentes|sans incident|senza (?:problemi|intoppi)|"
    r"\b(?:no|0|zero|without(?: any)?|free of|any|handled|last|recent|previous|count of|number of) "
    r"(?:\w+ )?(?:errors?|failures?|exceptions?|issues|problems|timeouts?)\b|"
    r"\b\d{1,5} (?:tests? |checks? |specs? )?(?:failed|passed|skipped|errors?|failures?)\b|"
    r"\b(?:errors?|failures?|exceptions?|timeouts?)(?: count)?[\"']?\s*[:=]\s*[\"']?(?:0|none|no|null|false|n/a|\[\]|-)[\"']?\s*(?:$|[,;.}\n])"
)

# The same, in other languages.
NEGATED_ABROAD = Pattern(
    r"(?i)"
    r"\b(?:kein\w*|ohne|aucune?|sans|sin|ning[uú]n\w*|sem|nenhuma?|senza|nessun\w*|geen|zonder|ingen|inga|uden|utan|uten|brak|bez|žádn\w+|hiçbir|tanpa|"
    r"tidak ada|không có|nincs)(?: \S+){0,3} (?:fehl\w*|stör\w*|problem\w*|zwischenf\S*|erreur\w*|échecs?|incident\w*|error\w*|fallos?|falhas?|"
    r"erros?|guast\w*|fout\w*|storing\w*|fel|fejl|feil|błęd\S*|awari\S*|chyb\S*|hata\S*|arıza\S*|kesalahan|gangguan|lỗi|hib[aá]\S*)|"
    r"(?:без|нет|не было|отсутствуют)(?: \S+){0,2} (?:ошиб\S*|сбо\S*|проблем\S*)|(?:没有|无|未发现|未出现|沒有|無)[^。,，]{0,6}(?:错误|錯誤|故障|失败|失敗|异常|異常|问题|問題)|"
    r"(?:エラー|障害|失敗|異常|不具合)[^。]{0,6}(?:なし|ない|ありません|ございません)|(?:오류|실패|장애|문제)[^.]{0,6}(?:없)|"
    r"\b(?:aucune? (?:erreur|échec|problème)|kein(?:e|en)? (?:fehler|ausnahme\w*|problem\w*)|ohne fehler|sans erreur|sin (?:errores|fallos|problemas)|"
    r"ning(?:ú|u)n error|nessun errore|senza errori|nenhum erro|sem erros|geen (?:fouten?|problemen)|zonder fouten|inga fel|ingen (?:fejl|feil)|"
    r"brak błędów|bez (?:błędów|chyb)|hata (?:yok|bulunamadı)|tidak ada (?:kesalahan|error)|không có lỗi)|"
    r"(?:нет|без|не найдено|не обнаружено) ошибок|ошибок (?:нет|не найдено|не обнаружено)|(?:没有|未发现|无)(?:任何)?(?:错误|错|问题|異常|异常)|沒有(?:錯誤|問題)|"
    r"(?:エラー|問題|異常)(?:は|が)?(?:ありません|見つかりません|検出されません)|(?:오류|문제)(?:가|는)? ?(?:없|발견되지)|कोई त्रुटि नहीं|لا (?:توجد )?(?:أخطاء|خطأ)"
)

# Someone's own words: a ticket, a mail or an article tells of failures without being one.
STORY = Pattern(
    r"(?i)\b(?:i|i'm|i've|my|me|we|our|us|hi|hello|dear|regards|thanks|users?|customers?|clients?|callers?|requesters?|"
    r"employees?|colleagues?) (?:\w+ ){0,2}(?:writes?|wrote|tells?|told|complains?|mentions?|asks?|asked|calls?|called|can|cannot|can't|could|couldn't|am|are|is|was|have|has|had|see|sees|get|gets|got|"
    r"report|reports|reported|say|says|said|try|tried|need|needs|when|after|since|vpn|laptop|printer|password|account)\b|"
    r"^\s*(?:subject|title|ticket|from|re|article|question|issue|problem|description|steps?|how to|faq|kb|ha)\b[ #:-]|"
    r"\b(?:opened|reported|raised|filed|submitted|requested|logged) by\b|\bassigned to\b|"
    r"\b(?:when|whenever|while|since|after|if|as soon as) (?:i|we|he|she|they)\b|"
    r"\b(?:how to|to fix|fixes|troubleshoot\w*|workaround|resolution|if (?:you|the|this|it)|when (?:you|the)|in case)\b"
)

# Someone tells what they saw: no tool speaks of itself like this.
PERSON = Pattern(
    r"(?i)\bi (?:see|saw|get|got|tried|try|open|opened|press|click|clicked|start|started)\b|\b(?:when|whenever|after|since|if|as soon as) (?:i|we|he|she|they)\b"
)

# The whole title or heading of a page that a server sends in place of what was asked for.
ERROR_TITLE = Pattern(
    r"(?i)^\W{0,4}(?:(?:http|error|status|code|apache tomcat[^|-]{0,20}[|-]|oops|sorry)[\s:!,.-]{0,4}){0,3}(?:"
    r"[45]\d\d\b[\s:|,.-]*(?:"
    + _STATUS
    + r"|-|$)[^.]{0,60}|(?:access|permission) (?:denied|forbidden)[^.]{0,30}|"
    + _STATUS
    + r"\W{0,3}|(?:page|file|site|resource) (?:was |could )?not (?:be )?found\W{0,3}|"
    r"application error|an error (?:has )?occurred\W*|something went wrong\W*|just a moment\W*|attention required[^.]{0,30}|"
    r"request (?:rejected|blocked|timed out)|are you (?:a )?(?:human|robot)\W*|(?:sign|log) ?in(?: required)?|"
    r"(?:interner |internal )?(?:server)?fehler\b[^.]{0,30}|zugriff verweigert|seite nicht gefunden|(?:dienst|service) nicht verfügbar|"
    r"accès (?:refusé|interdit)|page (?:introuvable|non trouvée)|erreur(?: interne)?[^.]{0,30}|acceso denegado|página no encontrada|"
    r"error interno[^.]{0,30}|accesso negato|pagina non trovata|acesso negado|página não encontrada|"
    r"ошибка[^.]{0,30}|доступ запрещ[её]н|страница не найдена|"
    r"访问被拒绝|拒绝访问|页面(?:不存在|未找到)|服务不可用|アクセス拒否|ページが見つかりません|페이지를 찾을 수 없[^.]{0,10}"
    r")\W{0,4}$"
)
# XML whose outermost element is a failure.
ERROR_ELEMENT = Pattern(
    r"(?i)^\s*(?:<\?xml[^>]{0,80}>\s*)?<(?:\w+:)?(?:\w{0,20}error|\w{0,20}errors|fault|exception|failure)(?:response)?\b"
)
PAGE_TITLE = Pattern(r"(?i)<(?:title|h1|h2)\b[^>]{0,200}>([^<]{1,160})<")

# Source code and logs, which quote failures.
CODE = Pattern(
    r"(?m)^\s*(?:def |class |import |from \w+ import|return\b|raise |try:|except\b|throw |catch\s*\(|function\b|const |let |var |"
    r"public |private |#include|package |func |fn |if \(|if .*:\s*$|\}|<\?php|SELECT |\d+[:|]\s)|;\s*$|=> ?\{|\) ?\{"
)
LOG_LINE = Pattern(
    r"(?m)^\W{0,3}(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d|\w{3} +\d{1,2} \d\d:\d\d|\d{10}\b)|"
    r"^\W{0,2}(?:DEBUG|INFO|WARN(?:ING)?|TRACE|NOTICE)\b"
)

# A line that begins like this, in the output of a program.
ERROR_LINE = Pattern(
    r"(?m)^\s*(?:(?:[A-Z]\w*\.)*[A-Z]\w*(?:Error|Exception): |Error: |ERROR: |error: |FATAL|fatal: |"
    r"npm (?:ERR!|error)|(?:ba|z|da)?sh: .*(?:command not found|not found|No such file|Permission denied|[Ss]yntax error)|"
    r"(?:\S{1,80}: ){1,3}(?:cannot |can't |command not found|No such file or directory|Permission denied|"
    r"not found|fatal error: ))"
)
# The last line of a build, or of any command run by one, that gave up.
MAKE_STOPPED = Pattern(
    r"(?m)^\s*(?:\S{0,60}: )?(?:g?make(?:\[\d+\])?: \*\*\*|error: |fatal: |FAILED$|npm ERR!)[^\n]*\s*$"
)
EXIT_CODE = Pattern(
    r"(?i)\b(?:exit(?:ed)?(?: with)?(?: status| code|code| with code)?|returncode|return code|exit_code|exitcode)"
    r"[ :=(\"']{1,4}(?:code |status )?(-?\d{1,6})\b"
)
TRACEBACK = Pattern(r"Traceback \(most recent call last\)")

# Values of a status field that say it went wrong; and those that only a call's own status may have.
BAD_STATUS = word_set(
    """
    error errors failed failure fail fault exception timeout timed_out timedout unauthorized
    unauthorised forbidden denied rejected refused aborted not_found notfound invalid
    unavailable unsuccessful ko nok fatal bad_request internal_error server_error
    rate_limited permission_denied access_denied validation_error conflict not_allowed
    crashed
    """
)
NOT_AN_ERROR = frozenset(
    [
        "",
        "no error",
        "no errors",
        *[
            "none",
            "null",
            "no",
            "false",
            "ok",
            "okay",
            "success",
            "succeeded",
            "nil",
            "n/a",
            "na",
            "-",
            "0",
            "200",
            "no_error",
            "noerror",
        ],
    ]
)

# How an agent tells a person that something did not work.
TELLS = Pattern(
    r"(?i)\b(?:sorry|apolog\w+|unfortunately|unable|(?:can|could|did|does|was|were|is|are|do|has|have)(?: ?not|n[’']t)|cannot|"
    r"fail\w*|errors?|issues?|problems?|denied|invalid|incorrect|wrong|missing|not found|no (?:\w+ ){0,3}(?:found|match\w*|"
    r"records?|results?|available)|there (?:are|is|were|was) no|nothing|empty|unavailable|double[- ]check|verify|"
    r"confirm|please (?:provide|check|share|try|give)|could you|can you)\b|"
    r"leider|nicht|fehler|désolé|malheureusement|impossible|erreur|lo siento|no (?:pude|puedo|se pudo)|desculpe|não (?:foi|consegui)|"
    r"purtroppo|helaas|抱歉|无法|没有|申し訳|できません|죄송|извините|не удалось"
)

# A refusal that names the tool itself: it looks like "no … available", and is none of the empty searches.
NO_SUCH_TOOL = Pattern(
    r"(?i)(?:-3260[12]\b.{0,80}\b(?:tool|method)|\b(?:unknown|no such|nonexistent|non-existent|undefined|"
    r"unrecogni[sz]ed|invalid|unsupported) (?:tool|function)\b|\b(?:tool|function)[^.\n]{0,80}?(?:(?:was |is )?not (?:found|available|"
    r"registered|defined|known|recogni[sz]ed|offered|a valid)|does ?(?:not|n't) exist|unknown)|\bno (?:tool|function) (?:called|named|with|by)|"
    r"(?:is )?not an? (?:valid|known|available) (?:tool|function)|tool_not_found|"
    r"werkzeug .{0,60}(?:nicht gefunden|existiert nicht)|outil .{0,60}(?:introuvable|inconnu)|工具.{0,60}(?:不存在|未找到))"
)
