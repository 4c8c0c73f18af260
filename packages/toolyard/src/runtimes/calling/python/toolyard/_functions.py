"""Adapts a registered function to its parameters: arguments as keywords, or as one dict."""

import inspect

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def caller_of(func, schema):
    """Returns a function of one dict. Arguments are normally passed as keywords. A function whose only parameter is
    not in the schema gets the dict itself."""
    if _takes_dict(_parameters(func), _names(schema)):
        return lambda arguments: func(arguments)
    return lambda arguments: func(**arguments)


def retriever_of(retriever):
    """Returns a function of URI and variables, for a retriever that accepts only the URI, the variables as a second
    dict, or each variable by its name."""
    parameters = _parameters(retriever)
    if parameters is None or any(p.kind is p.VAR_KEYWORD for p in parameters):
        return lambda uri, variables: retriever(uri, **variables)
    positional = [p for p in parameters if p.kind in POSITIONAL]
    by_name = {p.name for p in parameters[1:] if p.kind is not p.POSITIONAL_ONLY}
    if not positional and not by_name:
        return lambda uri, variables: retriever()

    def run(uri, variables):
        rest = positional[1:]
        if len(rest) == 1 and rest[0].name not in variables and (rest[0].default is rest[0].empty or not variables):
            return retriever(uri, variables)
        return retriever(uri, **{name: value for name, value in variables.items() if name in by_name})

    return run


def _parameters(func):
    try:
        return list(inspect.signature(func).parameters.values())
    except (TypeError, ValueError):
        return None


def _names(schema):
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if isinstance(properties, dict):
        return set(properties)
    return set() if not isinstance(schema, dict) or "type" in schema else set(schema)


def _takes_dict(parameters, names):
    if parameters is None or any(p.kind is p.VAR_KEYWORD for p in parameters):
        return False
    positional = [p for p in parameters if p.kind in POSITIONAL]
    needed_names = [p for p in parameters if p.kind is p.KEYWORD_ONLY and p.default is p.empty]
    if len(positional) != 1 or needed_names:
        return False
    # A function with one parameter of another name accepts none of the keywords.
    return positional[0].name not in names and (positional[0].default is positional[0].empty or bool(names))
