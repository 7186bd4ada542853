"""The pages of the fleet: machines, tree, jobs, long jobs, banned list, orders, packages.

They are rows of the table of routes, like all pages, so login, CSRF tokens and limits are the same.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import RedirectResponse, Response

from gossamer.base.clock import iso_of
from gossamer.errors import UsageError
from gossamer.fleet.hub.hub import Hub
from gossamer.fleet.protocol import JobSpec, PageFilter
from gossamer.web.hub import fleet_facts as facts
from gossamer.web.parameters import Param, Parameters
from gossamer.web.render import here
from gossamer.web.route import Route, ViewContext
from gossamer.web.views.html import html

_ROWS: Final = 100
_WHO: Final = "web"


def hub_of(context: ViewContext) -> Hub:
    """The hub of this server. Only a server with a hub has these routes."""
    assert context.hub is not None, "the routes of the fleet are added with a hub"
    return context.hub


def _page(context: ViewContext, parameters: Parameters, name: str, **names: Any) -> Response:
    return html(context, parameters, f"fleet/{name}.html", nav="fleet", **names)


# -- views


def overview(context: ViewContext, parameters: Parameters) -> Response:
    return _overview(context, parameters)


def _overview(
    context: ViewContext, parameters: Parameters, code: dict[str, str] | None = None
) -> Response:
    hub = hub_of(context)
    seen = facts.overview(hub, len(facts.long_jobs(hub)))
    return _page(context, parameters, "overview", seen=seen, code=code)


def invite(context: ViewContext, parameters: Parameters) -> Response:
    """Make a code; it is shown once."""
    hub = hub_of(context)
    code, row = hub.invite(_WHO)
    hub.flush()
    url = hub.settings.url or parameters.origin
    line = f"gossamer unit join {url} {code}"
    return _overview(
        context, parameters, {"line": line, "ends_at": iso_of(row.ends_us), "url": url}
    )


def machines(context: ViewContext, parameters: Parameters) -> Response:
    rows = facts.machine_rows(hub_of(context))
    placed = [row for row in rows if row["latitude"] is not None and row["longitude"] is not None]
    return _page(context, parameters, "machines", machines=rows, map=placed)


def machine(context: ViewContext, parameters: Parameters) -> Response:
    hub = hub_of(context)
    with hub.state.lock:
        row = facts.machine_row(hub, hub.unit(parameters.text("unit")))
    return _page(context, parameters, "machine", one=row)


def tree(context: ViewContext, parameters: Parameters) -> Response:
    hub = hub_of(context)
    nodes = facts.tree(hub)
    with hub.state.lock:
        pages = sum(job.fetched for job in hub.state.jobs)
    count = facts.count_nodes(nodes)
    return _page(context, parameters, "tree", nodes=nodes, count=count, pages=pages)


def jobs(context: ViewContext, parameters: Parameters) -> Response:
    return _jobs(context, parameters)


def _jobs(
    context: ViewContext, parameters: Parameters, fault: UsageError | None = None
) -> Response:
    hub = hub_of(context)
    rows, total = facts.job_rows(hub, parameters.text("state"), parameters.whole("offset"), _ROWS)
    return _page(
        context, parameters, "jobs", jobs=rows, total=total, by_state=facts.by_state(hub),
        fault=fault, given=parameters.values if fault else {}, status=400 if fault else 200,
    )  # fmt: skip


def add_jobs(context: ViewContext, parameters: Parameters) -> Response:
    """Make a job for each line."""
    hub = hub_of(context)
    try:
        if parameters.fault is not None:
            raise parameters.fault
        hub.add_jobs(specs_of(parameters), _WHO)
    except UsageError as fault:
        return _jobs(context, parameters, fault)
    hub.flush()
    return RedirectResponse("/fleet/jobs", 303)


def specs_of(parameters: Parameters) -> list[JobSpec]:
    """The jobs that a form describes."""
    lines = [line.split() for line in parameters.text("seeds").splitlines() if line.strip()]
    chosen = PageFilter(
        types=words_of(parameters.text("types")),
        languages=words_of(parameters.text("languages")),
        topic=parameters.text("topic"),
    )
    return [
        JobSpec(
            kind=parameters.text("kind") or "site",  # type: ignore[arg-type]  # one of its choices
            seeds=tuple(seeds),
            returns=parameters.text("returns") or "pages",  # type: ignore[arg-type]  # likewise
            filter=chosen,
            max_pages=parameters.whole("max_pages"),
            max_time_s=float(parameters.whole("max_time")),
        )
        for seeds in lines
    ]


def words_of(text: str) -> tuple[str, ...]:
    return tuple(word for part in text.split(",") if (word := part.strip()))


def job(context: ViewContext, parameters: Parameters) -> Response:
    hub = hub_of(context)
    with hub.state.lock:
        row = hub.giving.job(parameters.text("job"))
        shown = facts.job_row(hub, row)
        progress = hub.giving.progress.get(row.id)
        loops = progress.loops if progress is not None else ()
        mine = [one for one in hub.state.packages if one.job == row.id]
        packages = [facts.package_row(hub, one) for one in mine]
    seeds = hub.state.spec_of(row.id).seeds
    return _page(context, parameters, "job", one=shown, loops=loops, packages=packages, seeds=seeds)


def long_jobs(context: ViewContext, parameters: Parameters) -> Response:
    return _page(context, parameters, "long", jobs=facts.long_jobs(hub_of(context)))


def bans(context: ViewContext, parameters: Parameters) -> Response:
    return _bans(context, parameters)


def _bans(
    context: ViewContext, parameters: Parameters, fault: UsageError | None = None
) -> Response:
    rows = facts.ban_rows(hub_of(context))
    status = 400 if fault else 200
    return _page(context, parameters, "bans", bans=rows, fault=fault, status=status)


def change_bans(context: ViewContext, parameters: Parameters) -> Response:
    hub, line = hub_of(context), parameters.text("line")
    added, lifted = ([], [line]) if parameters.flag("lift") else ([line], [])
    try:
        if parameters.fault is not None:
            raise parameters.fault
        hub.ban(added, lifted, _WHO)
    except UsageError as fault:
        return _bans(context, parameters, fault)
    hub.flush()
    return RedirectResponse("/fleet/bans", 303)


def orders(context: ViewContext, parameters: Parameters) -> Response:
    return _page(context, parameters, "orders", orders=facts.order_rows(hub_of(context)))


def give_order(context: ViewContext, parameters: Parameters) -> Response:
    hub = hub_of(context)
    hub.order(parameters.text("unit"), parameters.text("kind"), _WHO, parameters.text("job"))
    hub.flush()
    return RedirectResponse("/fleet/orders", 303)


def again(context: ViewContext, parameters: Parameters) -> Response:
    hub = hub_of(context)
    hub.again(parameters.text("job"), _WHO)
    hub.flush()
    return RedirectResponse(here("/fleet/job", job=parameters.text("job")), 303)


def revoke(context: ViewContext, parameters: Parameters) -> Response:
    hub = hub_of(context)
    hub.revoke(parameters.text("unit"), _WHO)
    hub.flush()
    return RedirectResponse("/fleet/machines", 303)


def packages(context: ViewContext, parameters: Parameters) -> Response:
    return _page(context, parameters, "packages", **facts.package_rows(hub_of(context)))


def audit(context: ViewContext, parameters: Parameters) -> Response:
    return _page(context, parameters, "audit", lines=hub_of(context).audit.newest(500))


# -- routes

_JOB: Final = Param(name="job", help="Task code of the job.", is_needed=True, longest=100)
_UNIT: Final = Param(name="unit", help="Id of the machine.", is_needed=True, longest=100)


def _body(name: str, help: str, longest: int = 2_000, *, is_needed: bool = False) -> Param:
    return Param(name=name, help=help, place="body", default="", longest=longest,
                 is_needed=is_needed)  # fmt: skip


def _number(name: str, help: str, most: int) -> Param:
    return Param(name=name, help=help, kind="whole", place="body", default=0, most=most)


_ADD: Final = (
    _body("seeds", "Start URLs; one job for each line.", 1_000_000, is_needed=True),
    Param(name="kind", help="A site, a list or a page.", place="body", default="site",
          choices=("site", "list", "page")),
    Param(name="returns", help="What comes back.", place="body", default="pages",
          choices=("pages", "index", "summary")),
    _number("max_pages", "Maximum pages; 0: no limit.", 10**9),
    _number("max_time", "Maximum seconds; 0: no limit.", 10**8),
    _body("types", "Types that are sent."),
    _body("languages", "Languages that are sent."),
    _body("topic", "Words that a sent page must have."),
)  # fmt: skip
_STATES: Final = ("", "unallocated", "allocated", "done", "failed")


def _get(path: str, does: str, answer: Any, *params: Param) -> Route:
    name = answer.__name__
    return Route(method="GET", path=path, name=f"fleet_{name}", does=does, answer=answer,
                 params=params, gives="html")  # fmt: skip


def _post(path: str, does: str, answer: Any, *params: Param) -> Route:
    name = answer.__name__
    return Route(method="POST", path=path, name=f"fleet_{name}", does=does, answer=answer,
                 params=params, gives="html", changes=True, tells_faults=True)  # fmt: skip


PAGES: Final = (
    _get("/fleet", "State of the fleet.", overview),
    _post("/fleet/invite", "Make a code for a new machine, and show the line.", invite),
    _get("/fleet/machines", "All machines.", machines),
    _get("/fleet/machine", "One machine.", machine, _UNIT),
    _post("/fleet/revoke", "Refuse a machine from now on.", revoke,
          _body("unit", "Id of the machine.", 100, is_needed=True)),
    _get("/fleet/tree", "Machines below machines.", tree),
    _get("/fleet/jobs", "Jobs.", jobs,
         Param(name="state", help="Only jobs of this state.", default="", choices=_STATES),
         Param(name="offset", help="Jobs to skip.", kind="whole", default=0, most=10**9)),
    _post("/fleet/jobs", "Add jobs.", add_jobs, *_ADD),
    _get("/fleet/job", "One job.", job, _JOB),
    _post("/fleet/again", "Give a job out again.", again,
          _body("job", "Task code of the job.", 100, is_needed=True)),
    _get("/fleet/long", "Jobs that take unexpectedly long.", long_jobs),
    _get("/fleet/bans", "The banned list.", bans),
    _post("/fleet/bans", "Ban or lift a line.", change_bans,
          _body("line", "A host, URL prefix or pattern.", is_needed=True),
          Param(name="lift", help="Lift it.", kind="flag", place="body", default=False)),
    _get("/fleet/orders", "Orders to machines.", orders),
    _post("/fleet/order", "Give an order.", give_order,
          _body("unit", "Id of the machine; * for all.", 100),
          _body("kind", "The order.", 30, is_needed=True), _body("job", "Task code.", 100)),
    _get("/fleet/packages", "Packages that have arrived.", packages),
    _get("/fleet/audit", "The audit log.", audit),
)  # fmt: skip
