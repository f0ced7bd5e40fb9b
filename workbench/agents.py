"""What `pike mcp` hands to external agents: the gateway to the sessions, and engines started for them.

The gateway is made at the first session tool: clients drop a server that is late with its first answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessions.folder import SessionFolder
    from sessions.gateway import Gateway, HandedIn, SessionCaller, SessionsRefused, SessionWish


class LazyGateway:
    """`mcp_server.contract.SessionGateway`, which imports what it needs when it is first asked."""

    def __init__(self) -> None:
        """Make nothing yet."""
        self._made: Gateway | None = None

    @property
    def _inner(self) -> Gateway:
        if self._made is None:
            from sessions.folder import sessions_root
            from sessions.gateway import Gateway

            self._made = Gateway(sessions_root(), WorkbenchEngines())
        return self._made

    async def sessions(self, caller: SessionCaller) -> list[dict[str, Any]]:
        """Return a row for each session that the caller may see."""
        return await self._inner.sessions(caller)

    async def session(self, caller: SessionCaller, session_id: str) -> dict[str, Any]:
        """Return a session."""
        return await self._inner.session(caller, session_id)

    async def attempt(
        self, caller: SessionCaller, session_id: str, attempt_id: str
    ) -> dict[str, Any]:
        """Return an attempt."""
        return await self._inner.attempt(caller, session_id, attempt_id)

    async def open(self, caller: SessionCaller, wish: SessionWish) -> dict[str, Any]:
        """Open a session."""
        return await self._inner.open(caller, wish)

    async def submit(self, caller: SessionCaller, handed: HandedIn) -> str:
        """Hand an attempt in."""
        return await self._inner.submit(caller, handed)

    async def submitted(self, caller: SessionCaller, job_id: str) -> dict[str, Any]:
        """Return how an attempt stands."""
        return await self._inner.submitted(caller, job_id)

    async def prompts(
        self, caller: SessionCaller, session_id: str, number: int, lease_s: float
    ) -> list[dict[str, Any]]:
        """Lease prompts."""
        return await self._inner.prompts(caller, session_id, number, lease_s)

    async def reply(
        self, caller: SessionCaller, prompt_id: str, text: str, model: str
    ) -> dict[str, Any]:
        """Take an answer."""
        return await self._inner.reply(caller, prompt_id, text, model)


class WorkbenchEngines:
    """Sessions and engines as `pike run` and `pike resume` start them."""

    def open(self, wish: SessionWish, opened_by: str) -> SessionFolder:
        """Write an external session and start its engine.

        Raises:
            SessionsRefused: something stands in the way; in the words of `pike run`.
        """
        from workbench import launch, starting

        try:
            planned = starting.plan(_wish(wish, opened_by), _settings(wish))
            folder = starting.create(planned)
            launch.start(folder, orphan=True)  # opencode kills what descends from its servers
        except Exception as error:
            raise _refusal(error) from error
        return folder

    def revive(self, folder: SessionFolder) -> None:
        """Start an engine for a session that has none.

        Raises:
            SessionsRefused: it cannot start; why.
        """
        from sessions.errors import SessionBusy
        from workbench import lookup, renewing

        try:
            renewing.start(folder, lookup.state(folder), orphan=True)
        except SessionBusy:  # another server was quicker
            return
        except Exception as error:
            raise _refusal(error) from error


def _wish(wish: SessionWish, opened_by: str) -> Any:
    from workbench.starting import Wish

    assign = (f"attempts={wish.attempts}",)
    title, task = wish.title, wish.task_id
    return Wish(task=task, listed=True, assign=assign, title=title, opened_by=opened_by)


def _settings(wish: SessionWish) -> Any:
    from workbench import config

    typed = {"strategy": "external", "device": wish.device, "time": wish.hours}
    return config.load(typed)


def _refusal(error: Exception) -> SessionsRefused:
    """Return what an agent reads: words a person would get too, never a traceback."""
    import logging

    from sessions.gateway import SessionsRefused
    from workbench.errors import WorkbenchError
    from workbench.refusals import told

    known = told(error)
    if known is None and not isinstance(error, WorkbenchError):
        logging.getLogger(__name__).error("for an agent", exc_info=error)
        return SessionsRefused("The session could not be started; the server's log says why.")
    return SessionsRefused(f"{known.text if known else error}")
