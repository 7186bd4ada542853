"""The language of a text: what it shows, else what is declared."""

from gossamer.parse.language.language import declared_language, language_of
from support.rows import each_row

TEXTS = {
    "en": (
        "The quick brown fox jumps over the lazy dog while the farmer watches from "
        "his house and wonders whether the weather will hold until the harvest has "
        "been brought in from the fields."
    ),
    "de": (
        "Der schnelle braune Fuchs springt über den faulen Hund, während der Bauer "
        "aus seinem Haus zusieht und sich fragt, ob das Wetter halten wird, bis die "
        "Ernte eingebracht worden ist."
    ),
    "fr": (
        "Le renard brun saute par-dessus le chien paresseux pendant que le fermier "
        "regarde depuis sa maison et se demande si le temps tiendra jusqu'à ce que "
        "la récolte soit rentrée des champs."
    ),
    "ru": (
        "Быстрая коричневая лиса перепрыгивает через ленивую собаку, пока крестьянин "
        "смотрит из своего дома и думает, продержится ли погода до тех пор, пока не "
        "соберут весь урожай с полей."
    ),
    "ja": (
        "これは日本語で書かれた文章です。Python と HTML と HTTP の話が多いので、ラテ"
        "ン文字もたくさん 出てきますが、それでも日本語のページであることに変わりはあ"
        "りません。Apache HTTP Server Version 2.4。"
    ),
    "zh": (
        "这是一个用中文写成的网页，其中包含许多关于 Apache HTTP Server 的说明文字，"
        "以及配置文件的例子。读者可以从中了解服务器的安装、配置和管理方法，并且学会"
        "解决常见的问题，提高网站的性能和安全性。"
    ),
}


@each_row("language", TEXTS)
@each_row("declared", ["", "same", "en", "it"])
def test_text_that_is_long_enough_decides(language: str, declared: str) -> None:
    said = language if declared == "same" else declared

    assert language_of(TEXTS[language], said, 1000) == language


@each_row("language", ["de", "fr", "ru", "ja", "zh"])
def test_a_menu_in_the_declared_language_does_not_speak_for_the_page(language: str) -> None:
    menu = "A guide to the use of this manual\nThe parts that are not for you\n" * 12
    body = (TEXTS[language] + "\n") * 20

    assert language_of(menu + body + menu, "en", 1000) == language


def test_a_name_in_another_script_does_not_make_the_page_korean() -> None:
    assert language_of(TEXTS["zh"] + "\n한국어 日本語 にほんご", "en", 1000) == "zh"


@each_row("language", ["de", "fr", "ru", "zh"])
def test_a_text_that_is_translated_in_part_has_the_language_of_the_greater_part(
    language: str,
) -> None:
    """The first paragraph, and every third after it, was not translated."""
    part = "\n\n".join((TEXTS["en"], TEXTS[language], TEXTS[language]))
    text = "\n\n".join([part] * 8)

    assert language_of(text, "", 1000) == language


def test_what_programs_print_does_not_make_a_page_english() -> None:
    printed = "The following packages are to be removed\nand the rest is not changed by this\n"

    assert language_of(f"{TEXTS['de']}\n{printed * 10}" * 3, "", 1000) == "de"


def test_names_of_functions_are_no_foreign_language() -> None:
    names = "std::basic_regex::mark_count std::sub_match::compare std::regex_iterator::operator*\n"

    assert language_of(names * 20, "en", 1000) == "en"
    assert language_of(names * 20, "", 1000) == ""


def test_a_short_text_leaves_it_to_the_declaration() -> None:
    assert language_of("Der Fuchs springt.", "nl", 1000) == "nl"


def test_no_characters_allowed_means_the_declaration() -> None:
    assert language_of(TEXTS["de"], "fr", 0) == "fr"


def test_text_without_letters_has_no_language() -> None:
    assert language_of("1 + 2 = 3; " * 50, "", 1000) == ""


def test_a_text_that_tells_nothing_leaves_it_to_the_declaration() -> None:
    assert language_of("1 + 2 = 3; " * 50, "cs", 1000) == "cs"


def test_tongues_too_near_to_tell_follow_the_declaration() -> None:
    text = (
        "Dette er en side skrevet på norsk om hvordan man bruker en datamaskin til å skrive bøker. "
        "Mange mennesker leser bøker hver dag, og noen av dem skriver også sine egne fortellinger."
    )

    assert language_of(text, "no", 1000) == "no"


@each_row(
    ("tag", "language"),
    [
        ("en-US", "en"),
        ("DE", "de"),
        ("zh_Hant", "zh"),
        ("deu", "de"),
        ("haw", "haw"),
        (" fr ", "fr"),
        ("en, de", "en"),
        ("english", ""),
        ("x", ""),
        ("12", ""),
        ("", ""),
    ],
)
def test_a_declaration_is_reduced_to_its_language(tag: str, language: str) -> None:
    assert declared_language(tag) == language
