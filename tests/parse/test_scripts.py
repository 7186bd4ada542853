"""Languages that their script tells, alone or with the letters that they have."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.base import native
from gossamer.parse.language import common_words as words
from gossamer.parse.language import language
from gossamer.parse.language.language import language_of
from gossamer.parse.language.scripts import told_by_script

_c = native.load("gossamer.parse._language")
ENGLISH = " the quick fox "
# A sentence of each, in which three English words are put.
ALONE = {
    "th": ("ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอน%sและออกเสียงแยกคำต่อคำ เป็นที่ลำบากของชาวต่างชาติ"),
    "lo": ("ພາສາລາວ ແມ່ນພາສາທາງການຂອງປະເທດລາວ ເຊິ່ງປະຊາກອນສ່ວນໃຫຍ່ໃຊ້%sໃນການສື່ສານປະຈໍາວັນ ແລະ ການສຶກສາ"),
    "km": ("ភាសាខ្មែរ គឺជាភាសាកំណើតរបស់ជនជាតិខ្មែរ%sនិងជាភាសាផ្លូវការរបស់ប្រទេសកម្ពុជា ភាសាសំស្ក្រឹត"),
    "my": ("မြန်မာဘာသာစကားသည် မြန်မာနိုင်ငံ၏%sရုံးသုံး ဘာသာစကား ဖြစ်သည်။ ဗမာလူမျိုးနှင့် ဗမာနွယ်ဝင်"),
    "ka": (
        "ქართული ენა არის ქართველური ენათა ოჯახის ენა%s"
        "საქართველოს სახელმწიფო ენა, რომელზეც საუბრობს"
    ),
    "hy": (
        "Հայերենը հնդեվրոպական լեզվաընտանիքի առանձին ճյուղ հանդիսացող լեզու է%s"
        "Հայաստանի պետական լեզուն"
    ),
    "el": (
        "Η ελληνική γλώσσα είναι μία από τις ινδοευρωπαϊκές γλώσσες%s"
        "Αποτελεί το μοναδικό μέλος ενός"
    ),
    "ko": (
        "한국어는 대한민국과 조선민주주의인민공화국의 공용어이다%s"
        "둘은 표기나 문법에서는 차이가 없지만 동사 어미나 표현에서"
    ),
    "ja": (
        "日本語は日本国内や、かつての日本領だった国、そして日本人同士の間で使用されている言語%s"
        "である。"
    ),
    "zh": (
        "汉语又称中文，是汉族的语言，为中国通用语言，国际通用语言之一%s也是联合国六种工作语言之一。"
    ),
    "pa": ("ਪੰਜਾਬੀ ਭਾਸ਼ਾ ਪੰਜਾਬ ਦੀ ਭਾਸ਼ਾ ਹੈ ਜਿਸ ਨੂੰ ਪੰਜਾਬ ਖੇਤਰ ਦੇ ਵਸਨੀਕ ਬੋਲਦੇ ਹਨ%sਇਹ ਭਾਸ਼ਾਵਾਂ ਦੇ ਪਰਿਵਾਰ ਵਿੱਚੋਂ"),
    "gu": ("ગુજરાતી ભાષા એ ભારતના ગુજરાત રાજ્યની ઇન્ડો-આર્યન ભાષા છે%sઅને મુખ્યત્વે ગુજરાતી લોકો દ્વારા"),
    "or": ("ଓଡ଼ିଆ ଏକ ଭାରତୀୟ ଭାଷା ଯାହା ଏକ ଇଣ୍ଡୋ-ଇଉରୋପୀୟ ଭାଷାଗୋଷ୍ଠୀ ଅନ୍ତର୍ଗତ%sଇଣ୍ଡୋ-ଆର୍ଯ୍ୟ ଭାଷା"),
    "ta": ("தமிழ் மொழி தமிழர்களினதும் தமிழ் பேசும் பலரின் தாய்மொழி ஆகும்%sதமிழ் திராவிட மொழிக் குடும்பத்தின்"),
    "te": ("తెలుగు ఆంధ్ర, తెలంగాణ రాష్ట్రాల అధికార భాష%sభారత దేశంలో తెలుగు మాతృభాషగా మాట్లాడే ప్రజలు"),
    "kn": ("ಕನ್ನಡ ಭಾರತದ ಪುರಾತನ ದ್ರಾವಿಡ ಭಾಷೆಗಳಲ್ಲಿ ಒಂದಾಗಿದೆ%sಕನ್ನಡ ಭಾಷೆಯನ್ನು ವಿಶ್ವದಲ್ಲಿ ಅನೇಕ ಜನರು"),
    "ml": ("ഇന്ത്യയിൽ കേരള സംസ്ഥാനത്തിലും സംസാരിക്കപ്പെടുന്ന ഭാഷയാണ് മലയാളം%sഇതു ദ്രാവിഡ ഭാഷാ കുടുംബത്തിൽ"),
    "si": ("සිංහල භාෂාව යනු සිංහල ජාතියේ මව් භාෂාව යි%sසිංහල භාෂාව ඉන්දු-ආර්ය භාෂා කාණ්ඩයට අයත් වේ."),
    "bo": ("བོད་སྐད་ནི་བོད་མི་རིགས་ཀྱི་སྐད་ཡིག་ཡིན%sབོད་ཡིག་ནི་སྤྱི་ལོའི་དུས་རབས་བདུན་པའི་ནང་དུ་གསར་བཟོ་བྱས་པ་རེད"),
    "mn": ("ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ ᠪᠣᠯ ᠮᠣᠩᠭᠣᠯ ᠦᠨᠳᠦᠰᠦᠲᠡᠨ ᠦ ᠬᠡᠯᠡ ᠮᠥᠨ%sᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ ᠢᠶᠡᠷ ᠪᠢᠴᠢᠳᠡᠭ ᠪᠠᠶᠢᠨ᠎ᠠ ᠮᠣᠩᠭᠣᠯ"),
    "dv": ("ދިވެހިބަހަކީ ދިވެހިރާއްޖޭގެ ރަސްމީ ބަހެވެ%sމިއީ ދިވެހިންގެ މާދަރީ ބަސް ކަމުގައި ވެއެވެ ރާއްޖޭގައި"),
}
SHARED = {
    "bn": ("বাংলা ভাষা একটি ইন্দো-আর্য ভাষা%sযা দক্ষিণ এশিয়ার বাঙালি জাতির প্রধান কথ্য ও লেখ্য ভাষা।"),
    "as": ("অসমীয়া ভাষা হৈছে সকলোতকৈ পূৰ্বীয় ভাৰতীয়-আৰ্য ভাষা%sযাক অসমৰ প্ৰায় সকলো লোকে ব্যৱহাৰ কৰে"),
    "he": (
        "עברית היא שפה שמית, ממשפחת השפות האפרו-אסיאתיות%sהידועה כשפתם של היהודים ושל השומרונים"
    ),
    "yi": (
        "ייִדיש איז די שפּראַך פֿון די אַשכּנזישע ייִדן און האָט זיך אַנטוויקלט אין מיטל־עלטער%sאויפֿן סמך"
    ),
    "am": ("አማርኛ የኢትዮጵያ የሥራ ቋንቋ ነው%sከሴማዊ ቋንቋዎች መካከል ከዓረብኛ ቀጥሎ ሁለተኛው ብዙ ተናጋሪዎች ያሉት ቋንቋ ነው"),
    "ti": ("ትግርኛ ኣብ ኤርትራን ኣብ ሰሜናዊ ኢትዮጵያን ኣብ ክልል ትግራይ ዝዝረብ ሴማዊ ቋንቋ እዩ።%sትግርኛ ከምቲ ካልእ ናይ ሴም ቋንቋታት"),
    "hi": ("हिन्दी विश्व की एक प्रमुख भाषा है और भारत की एक राजभाषा है।%sकेन्द्रीय स्तर पर भारत में अंग्रेजी है"),
    "mr": (
        "मराठी ही भारतातील एक प्रमुख भाषा आहे%s"
        "आणि ती महाराष्ट्र राज्याची अधिकृत भाषा आहे. मराठी भाषिकांची संख्या"
    ),
    "ne": ("नेपाली नेपालको राष्ट्रभाषा हो । यो भाषा नेपालको अतिरिक्त भारतको सिक्किम%sर भुटानमा पनि बोलिन्छ"),
    "ar": (
        "اللغة العربية هي أكثر اللغات السامية تحدثا وإحدى أكثر اللغات انتشارا في العالم%s"
        "يتحدثها أكثر من"
    ),
    "fa": (
        "فارسی یا پارسی یک زبان ایرانی غربی از زیرگروه ایرانی شاخهٔ هندوایرانی%s"
        "خانوادهٔ زبان‌های هندواروپایی است"
    ),
    "ur": (
        "اردو برصغیر پاک و ہند کی معیاری زبانوں میں سے ایک ہے۔%s"
        "یہ پاکستان کی قومی اور رابطہ عامہ کی زبان ہے"
    ),
    "ps": (
        "پښتو د لرغونو آريايي ژبو څخه يوه خپلواکه ژبه ده%s"
        "چې له پخوا زمانو څخه د آریانا په پراخه سیمه کې ویل کیږي"
    ),
    "ug": (
        "ئۇيغۇر تىلى ئالتاي تىللىرى سىستېمىسى تۈركى تىللار ئائىلىسىگە تەۋە%s"
        "بولۇپ، شىنجاڭ ئۇيغۇر ئاپتونوم"
    ),
    "ru": (
        "Русский язык является одним из восточнославянских языков%s"
        "и национальным языком русского народа, это"
    ),
    "uk": (
        "Українська мова є національною мовою українців%s"
        "Належить до слов'янської групи індоєвропейської сім'ї"
    ),
    "be": (
        "Беларуская мова з'яўляецца нацыянальнай мовай беларусаў%s"
        "уваходзіць у індаеўрапейскую моўную сям'ю"
    ),
    "sr": (
        "Српски језик је словенски језик из групе јужнословенских језика%s"
        "који се користи првенствено у Србији"
    ),
    "mk": (
        "Македонскиот јазик е јужнословенски јазик, дел од групата на словенски јазици%s"
        "кој ќе припаѓа на ѕидот"
    ),
    "kk": (
        "Қазақ тілі — Қазақстан Республикасының мемлекеттік тілі%s"
        "сонымен қатар Ресей, Өзбекстан, Қытай, Моңғолия"
    ),
    "tg": (
        "Забони тоҷикӣ яке аз забонҳои ҷаҳон аст%s"
        "ки дар Тоҷикистон ба ҳайси забони давлатӣ қабул гардидааст"
    ),
}
ALL = ALONE | SHARED


@pytest.mark.parametrize("code", ALL)
@pytest.mark.parametrize("declared", ["", "en", "same"])
def test_a_text_with_three_english_words_keeps_its_language(code: str, declared: str) -> None:
    said = code if declared == "same" else declared

    assert language_of(ALL[code] % ENGLISH, said, 1000) == code


@pytest.mark.parametrize("code", ALONE)
def test_a_script_of_one_language_tells_it_in_a_few_words(code: str) -> None:
    assert language_of(ALONE[code][:25], "", 1000) == code
    assert language_of(ALONE[code][:25], "en", 1000) == code


def test_mongolian_in_cyrillic_is_told_by_its_letters() -> None:
    text = (
        "Монгол хэл нь Монгол улсын албан ёсны хэл юм. "
        "Энэ хэлээр таван сая хүн ярьдаг бөгөөд өнөөдөр"
    )

    assert language_of(text, "", 1000) == "mn"


@pytest.mark.parametrize(
    ("code", "declared"), [("hi", "sa"), ("ru", "ce"), ("bo", "dz"), ("ar", "arz"), ("my", "shn")]
)
def test_a_declared_language_that_is_written_in_the_script_holds(code: str, declared: str) -> None:
    assert language_of(ALL[code] % " ", declared, 1000) in (declared, code)
    assert told_by_script(ALL[code] % " ").allows(declared)


def test_a_name_in_another_script_does_not_make_a_page_thai() -> None:
    text = "The language of the kingdom is called ภาษาไทย by the people who speak it every day."

    assert language_of(text, "", 1000) == "en"


def test_short_greetings_in_other_letters_are_left_to_the_declaration() -> None:
    assert language_of("Привет", "de", 1000) == "de"


@pytest.mark.skipif(_c is None, reason="gossamer.parse._language is not built")
@pytest.mark.parametrize("code", ALL)
@pytest.mark.parametrize("declared", ["", "en"])
def test_both_forms_tell_the_same(
    code: str, declared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"A line in English about the rest of this page.\n{ALL[code] % ENGLISH}\n" * 5
    compiled = language_of(text, declared, 1000)
    monkeypatch.setattr(words, "_c", None)
    monkeypatch.setattr(language, "_prose", language.prose_in_python)

    assert language_of(text, declared, 1000) == compiled


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_can_be_asked(text: str) -> None:
    told = told_by_script(text)

    assert told.narrowed("en")
    assert bool(told.script) == bool(told.language or told.shared)
