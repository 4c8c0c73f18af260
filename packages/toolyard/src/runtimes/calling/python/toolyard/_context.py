"""The object that a function `execute` gets as `lollms_client_instance`."""

import os

from ._cancelled import is_cancelled
from ._hub import Hub

CONTEXT_NAME = "lollms_client_instance"


class ImageService:
    """`tti.generate_image(prompt, ...)` returns the bytes of an image."""

    def __init__(self, hub):
        self._hub = hub

    def generate_image(self, prompt, negative_prompt="", width=None, height=None, **_options):
        return self._hub.generate_image(prompt, negative_prompt, width, height).data


class ClientContext(Hub):
    """Services that this hub does not offer fail when used, not before."""

    def __init__(self, line, cancelled=is_cancelled):
        super().__init__(line)
        if "image" in os.environ.get("TOOLYARD_MODELS", "").split(","):
            self.tti = ImageService(self)
        self._cancelled = cancelled

    @property
    def cancelled(self):
        """Returns whether the caller has cancelled or the time has expired."""
        return self._cancelled()

    def generate_text(
        self,
        prompt,
        images=None,
        system_prompt=None,
        n_predict=None,
        temperature=None,
        system=None,
        max_tokens=None,
        model=None,
        **_options
    ):
        if images:
            raise ValueError("`generate_text` takes no images here.")
        return super().generate_text(
            prompt, system or system_prompt or None, max_tokens or n_predict, temperature, model
        )

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(
            "lollms_client_instance.%s is not available here. It offers `logger`, `progress`, `cancelled`, `tools`, "
            "`call_tool`, `search_tools`, `list_tools`, `generate_text` and `generate_image`, and with a "
            "configured image model `tti.generate_image`."
            % name
        )


def takes_context(execute):
    """Returns whether a function has the parameter."""
    import inspect

    try:
        parameters = inspect.signature(execute).parameters.values()
    except (TypeError, ValueError):
        return False
    return any(p.name == CONTEXT_NAME and p.kind is not p.POSITIONAL_ONLY for p in parameters)
