"""Which links a page has, their words, relation and place."""

import pytest

from gossamer.parse.html import Parser
from gossamer.parse.links import addresses_in_srcset
from gossamer.records import Link, LinkKind, Place
from gossamer.settings import Parse
from support.rows import each_row

pytestmark = pytest.mark.usefixtures("form")


def links_of(html: str, *wants: str) -> list[Link]:
    parser = Parser(Parse(), frozenset(wants))
    return list(parser.parse("http://h/", "text/html; charset=utf-8", html.encode()).links)


def link_of(html: str) -> Link:
    (link,) = links_of(html)
    return link


@each_row(
    ("inside", "words"),
    [
        ("plain", "plain"),
        (" two \n words\t", "two words"),
        ("<b>in</b>ner", "inner"),
        ("<code><span>deep</span></code>", "deep"),
        ("<img alt='a picture'>", "a picture"),
        ("to <img alt=the> top", "to the top"),
        ("<picture><source srcset=x><img alt=pic></picture>", "pic"),
        ("<img src=x>", ""),
        ("<div>one</div><div>two</div>", "one two"),
        ("one<br>two", "one two"),
        ("<ul><li>one<li>two</ul>", "one two"),
        ("a<script>var b</script><style>c</style>", "a"),
        ("no&nbsp;break", "no break"),
        ("* starred", "* starred"),
        ("", ""),
    ],
)
def test_the_words_of_a_link(inside: str, words: str) -> None:
    assert link_of(f"<a href=x>{inside}</a>").text == words


@each_row("href", [" x ", "\n\tx\r\n", "\x01x\x1f", "x"])
def test_white_space_around_an_address_is_taken_off(href: str) -> None:
    assert link_of(f"<a href='{href}'>x</a>").href == "x"


def test_an_address_is_kept_as_written_within() -> None:
    assert link_of("<a href='a b\n/c?d=é&amp;e#f'>x</a>").href == "a b\n/c?d=é&e#f"


def test_an_anchor_without_address_is_no_link() -> None:
    assert links_of("<a name=here>x</a><area alt=y><frame><iframe src=' '></iframe>") == []


def test_relations_are_lower_case_and_folded() -> None:
    assert link_of("<a href=x rel=' NoFollow\n External'>x</a>").rel == "nofollow external"


def test_an_area_has_its_alt_and_a_frame_its_title_or_name() -> None:
    found = links_of(
        "<map><area href=a alt='the  area'></map><iframe src=b title=t name=n></iframe>"
        "<iframe src=c name=n></iframe>"
    )

    assert [(link.kind, link.text) for link in found] == [
        (LinkKind.AREA, "the area"),
        (LinkKind.FRAME, "t"),
        (LinkKind.FRAME, "n"),
    ]


def test_links_in_drawings_count() -> None:
    assert link_of("<svg><a xlink:href=x><text>word</text></a></svg>").text == "word"


@each_row("rel", ["next", "PREV", "alternate", "canonical", "license help", "up"])
def test_relations_that_lead_to_pages_are_followed(rel: str) -> None:
    link = link_of(f"<link rel='{rel}' href=x title='the  other'>")

    assert (link.kind, link.rel, link.text) == (LinkKind.LINK, rel.lower(), "the other")


@each_row("rel", ["stylesheet", "alternate stylesheet", "icon", "preload", "dns-prefetch", "", "x"])
def test_relations_for_programs_are_not(rel: str) -> None:
    html = f"<link rel='{rel}' href=x>"

    assert links_of(html) == []
    assert [link.kind for link in links_of(html, "any")] == [LinkKind.MEDIA]


MEDIA = (
    "<img src=i1 srcset='i2 2x, i3' alt=words><picture><source srcset=i4><img></picture>"
    "<input type=IMAGE src=i5><input src=no><video src=v1 poster=i6><source src=v2><track src=t>"
    "</video><audio src=a1><source src=a2></audio><object data=o></object>"
    "<embed src=v3 type=video/x><script src=s></script>"
)


@each_row(
    ("wants", "hrefs"),
    [
        ((), "o"),
        (("image",), "i1 i2 i3 i4 i5 i6 o"),
        (("audio",), "a1 a2 o"),
        (("video",), "v1 v2 o v3"),
        (("any",), "i1 i2 i3 i4 i5 v1 i6 v2 t a1 a2 o v3 s"),
    ],
)
def test_media_are_links_only_where_wanted(wants: tuple[str, ...], hrefs: str) -> None:
    found = links_of(MEDIA, *wants)

    assert " ".join(link.href for link in found) == hrefs
    assert all(link.kind is LinkKind.MEDIA for link in found)


@each_row(
    ("html", "hrefs"),
    [
        ("<img data-src=a.jpg>", "a.jpg"),
        ("<img src=w.gif data-src=a.jpg data-srcset='b.jpg 1x, c.jpg 2x'>",
         "w.gif a.jpg b.jpg c.jpg"),
        ("<img data-lazy-src=a.jpg data-lazy-srcset='b.jpg 2x'>", "a.jpg b.jpg"),
        ("<img data-original=/a>", "/a"),
        ("<img src=a.jpg data-src=a.jpg data-srcset=a.jpg>", "a.jpg"),
        ("<img data-src=w.gif><noscript><img src=a.jpg></noscript>", "w.gif a.jpg"),
        ("<picture><source data-srcset='a.webp, b.webp 2x'><img data-src=c.jpg></picture>",
         "a.webp b.webp c.jpg"),
        ("<video data-poster=p.jpg data-src=v.mp4></video>", "p.jpg"),
        ("<img src=a.jpg data-src=true data-original=1>", "a.jpg"),
        ("<img src=a.jpg data-src='{{ image.url }}' data-srcset='{{ image.set }}'>", "a.jpg"),
        ("<img src=a.jpg data-src='no words. here'>", "a.jpg"),
        ("<template><img data-src=a.jpg></template>", ""),
    ],
)  # fmt: skip
def test_images_that_a_script_loads_later_are_links_where_wanted(html: str, hrefs: str) -> None:
    assert " ".join(link.href for link in links_of(html, "image")) == hrefs
    assert links_of(html) == []


@each_row(
    ("srcset", "addresses"),
    [
        ("a.png", ["a.png"]),
        ("a.png 1x, b.png 2x", ["a.png", "b.png"]),
        ("a,b.png 100w,c.png", ["a,b.png", "c.png"]),
        ("a.png,, b.png", ["a.png", "b.png"]),
        (" , a.png 1x (x, y), b.png ", ["a.png", "b.png"]),
        ("", []),
        (" ,, ", []),
    ],
)
def test_a_srcset_is_read_as_the_standard_says(srcset: str, addresses: list[str]) -> None:
    assert list(addresses_in_srcset(srcset)) == addresses


@each_row(
    ("html", "place"),
    [
        ("<a href=x>", Place.BODY),
        ("<header><a href=x></header>", Place.HEADER),
        ("<nav><ul><li><a href=x></ul></nav>", Place.NAV),
        ("<main><a href=x></main>", Place.MAIN),
        ("<aside><a href=x></aside>", Place.ASIDE),
        ("<footer><a href=x></footer>", Place.FOOTER),
        ("<main><nav></nav><a href=x></main>", Place.MAIN),
        ("<main><p><nav><a href=x></nav></main>", Place.NAV),
        ("<nav></nav><p><a href=x>", Place.BODY),
        ("<div role=navigation><a href=x></div>", Place.NAV),
        ("<div role='x Main'><p><a href=x></div>", Place.MAIN),
        ("<div role=banner><nav><a href=x></nav></div>", Place.NAV),
        ("<footer><div role=complementary><a href=x></div></footer>", Place.ASIDE),
        ("<div role=contentinfo></div><a href=x>", Place.BODY),
        ("<div role=main><div role=contentinfo><a href=x></div></div>", Place.FOOTER),
        ("<div role=main><div role=banner></div><a href=x></div>", Place.MAIN),
        ("<div role=button><a href=x></div>", Place.BODY),
    ],
)
def test_a_link_stands_in_the_nearest_landmark(html: str, place: Place) -> None:
    assert link_of("<body>" + html).place is place


@each_row("count", [31, 32, 33, 100])
@each_row(("opened", "closed"), [("nav", "nav"), ("div role=navigation", "div")])
@each_row("after", ["", "<p>", "<p>text</p>" * 50])
def test_a_wide_landmark_ends_where_its_element_ends(
    count: int, opened: str, closed: str, after: str
) -> None:
    inside = "<a href=n>n</a>" * count
    html = f"<main><{opened}>{inside}</{closed}>{after}<a href=m>m</a></main>"

    found = links_of(html + "<a href=b>b</a>")

    assert [link.place for link in found] == [Place.NAV] * count + [Place.MAIN, Place.BODY]


@each_row(
    ("html", "words"),
    [
        ("<a href=x>a</a><img alt=no><a href=y><img alt=yes></a>", ["a", "yes"]),
        ("<a href=x><h2><img alt=in></h2></a><a href=y>b</a>", ["in", "b"]),
        ("<a href=x>a<a href=y>b</a><img alt=no>", ["a", "b"]),
        ("<a href=x><ul><li>one</ul></a><a href=y>* two</a>", ["one", "* two"]),
        ("<a href=x>a</a><a name=z><img alt=no></a><a href=y>b</a>", ["a", "b"]),
    ],
)
def test_each_link_has_its_own_words(html: str, words: list[str]) -> None:
    assert [link.text for link in links_of(html)] == words


def test_an_anchor_around_other_anchors_has_no_words_of_its_own() -> None:
    found = links_of("<a href=out>long <table><tr><td><a href=in>in</a></table></a>")

    assert [(link.href, link.text) for link in found][-1] == ("in", "in")
    assert ("out", "") in [(link.href, link.text) for link in found]


@each_row(
    ("html", "href", "rel", "words"),
    [
        (
            "<object data=f.swf type=application/x-shockwave-flash></object>",
            "f.swf",
            "object",
            "application/x-shockwave-flash",
        ),
        (
            "<object classid=c title=Film><param name=Movie value=' f.swf '></object>",
            "f.swf",
            "object",
            "Film",
        ),
        ("<embed src=f.swf>", "f.swf", "embed", ""),
        ("<applet code=Clock.class alt=Clock></applet>", "Clock.class", "applet", "Clock"),
        ("<applet codebase=/java/ code=a.Clock></applet>", "/java/a.Clock.class", "applet", ""),
        ("<applet codebase=java archive='a.jar, '></applet>", "java/a.jar", "applet", ""),
    ],
)
def test_what_a_plugin_would_show_is_named(html: str, href: str, rel: str, words: str) -> None:
    (link,) = links_of(f"<main>{html}</main>")

    assert (link.href, link.rel, link.text, link.place) == (href, rel, words, Place.MAIN)


def test_pictures_in_an_object_are_no_plugin_content() -> None:
    assert links_of("<object data=i.svg type='image/svg+xml; x'></object><object></object>") == []
