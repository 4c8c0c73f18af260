/** Julia code that prints lines of JSON, for both kinds of models. */
const JSON_LINES = `
json(::Nothing) = "null"
json(number::Real) = string(number)
# All names are generated, such as level1 and agent2.
json(text::AbstractString) = "\\"" * text * "\\""
json(matrix::AbstractMatrix) = json([row for row in eachrow(matrix)])
json(list::AbstractVector) = "[" * join(json.(list), ", ") * "]"
json(row::NamedTuple) = "{" * join([json(string(key)) * ": " * json(value) for (key, value) in pairs(row)], ", ") * "}"
`;

/**
 * Julia code after the graphs and numbers of a discrete model: policies by expected free energy, a world, the loop.
 */
export const DISCRETE_RUN = `${JSON_LINES}
const SMALLEST = 2.0^-52
logarithm(x) = log.(max.(x, SMALLEST))
softmax_of(x) = (powers = exp.(x .- maximum(x)); powers ./ sum(powers))
one_hot(place, length) = Float64.(1:length .== place)
normalised(counts) = counts ./ sum(counts, dims = 1)
# Slice of a table at one index of its last dimension.
at(table, place) = collect(selectdim(table, ndims(table), place))

# Result of a table for the beliefs about the factors on which it depends.
function led(table, beliefs)
    for belief in reverse(beliefs)
        shape = size(table)
        table = reshape(reshape(table, :, shape[end]) * belief, shape[1:end - 1])
    end
    return table
end

# Outer product of the vectors.
function outer(vectors)
    table = vectors[1]
    for vector in vectors[2:end]
        table = reshape(vec(table) * transpose(vector), size(table)..., length(vector))
    end
    return table
end

next_states(B, from, beliefs, action) = [led(at(b, u), beliefs[on]) for (b, on, u) in zip(B, from, action)]

# Every sequence of actions, with an action for each factor; the last one varies fastest.
function all_policies(counts)
    fastest_last(choices) = [reverse(collect(one)) for one in vec(collect(Iterators.product(reverse(choices)...)))]
    return fastest_last([fastest_last([1:count for count in counts]) for _ in 1:POLICY_LENGTH])
end

# Beliefs and preferences of one agent.
mutable struct Mind
    agent::Any
    A::Vector{Any}
    B::Vector{Any}
    counts_A::Vector{Any}
    counts_B::Vector{Any}
    prior::Vector{Any}
    beliefs::Any
    action::Any
    policies::Any
    log_habit::Vector{Float64}
    free_energy::Float64
end

function Mind(agent)
    means(tables, counts) = Any[c === nothing ? table : normalised(c) for (table, c) in zip(tables, counts)]
    policies = all_policies([size(b)[end] for b in agent.B])
    habit = agent.E === nothing ? fill(1 / length(policies), length(policies)) : agent.E
    length(habit) == length(policies) || error("E must have a number for each policy.")
    believed = Any[own === nothing ? table : own for (table, own) in zip(agent.A, agent.believed_A)]
    A, B, D = means(believed, agent.counts_A), means(agent.B, agent.counts_B), means(agent.D, agent.counts_D)
    counts_A, counts_B = copy(agent.counts_A), copy(agent.counts_B)
    return Mind(agent, A, B, counts_A, counts_B, D, nothing, nothing, policies, logarithm(habit), 0.0)
end

function see!(mind, observation)
    agent, before = mind.agent, mind.beliefs
    seen = [one_hot(outcome, size(table, 1)) for (outcome, table) in zip(observation, mind.A)]
    mind.beliefs = Vector{Float64}[agent.infer(mind, seen)...]
    mind.free_energy = free_energy(mind, observation)
    for (m, counts) in enumerate(mind.counts_A)
        counts === nothing && continue
        mind.counts_A[m] = counts .+ LEARNING_RATES.A .* outer([[seen[m]]; mind.beliefs[agent.on[m]]])
        mind.A[m] = normalised(mind.counts_A[m])
    end
    for (f, counts) in enumerate(mind.counts_B)
        (counts === nothing || before === nothing) && continue
        taken = one_hot(mind.action[f], size(counts)[end])
        mind.counts_B[f] = counts .+ LEARNING_RATES.B .* outer([[mind.beliefs[f]]; before[agent.from[f]]; [taken]])
        mind.B[f] = normalised(mind.counts_B[f])
    end
    return mind.beliefs
end

# Variational free energy of the beliefs: their complexity minus their accuracy.
function free_energy(mind, observation)
    complexity = sum(sum(q .* (logarithm(q) .- logarithm(p))) for (q, p) in zip(mind.beliefs, mind.prior))
    rows = [collect(selectdim(table, 1, outcome)) for (table, outcome) in zip(mind.A, observation)]
    return complexity - sum(sum(led(logarithm(row), mind.beliefs[on])) for (row, on) in zip(rows, mind.agent.on))
end

# Weighted parts of the negative expected free energy of a policy: information gain about states, and preference.
function score(mind, policy)
    agent, beliefs, epistemic, pragmatic = mind.agent, mind.beliefs, 0.0, 0.0
    for action in policy
        beliefs = next_states(mind.B, agent.from, beliefs, action)
        for (table, on, preference) in zip(mind.A, agent.on, agent.C)
            outcomes = led(table, beliefs[on])
            uncertain = -sum(led(table .* logarithm(table), beliefs[on]))
            epistemic += -sum(outcomes .* logarithm(outcomes)) - uncertain
            pragmatic += sum(outcomes .* preference)
        end
    end
    return (EPISTEMIC_WEIGHT * epistemic, PRAGMATIC_WEIGHT * pragmatic)
end

function act!(mind, action)
    mind.action = action
    mind.prior = next_states(mind.B, mind.agent.from, mind.beliefs, action)
end

# Expected outcomes of the only modality of a level.
expected_outcomes(mind) = led(mind.A[1], mind.prior[mind.agent.on[1]])

draw(rng, probabilities) = something(findfirst(>=(rand(rng)), cumsum(probabilities)), argmax(probabilities))
observe(rng, agent, states) = [draw(rng, table[:, states[on]...]) for (table, on) in zip(agent.A, agent.on)]
move(rng, agent, states, action) =
    [draw(rng, table[:, states[on]..., u]) for (table, on, u) in zip(agent.B, agent.from, action)]

# One step of an agent: observes, plans, acts.
function turn!(mind, step, observation, states = nothing)
    agent, is_first = mind.agent, mind.beliefs === nothing
    beliefs = see!(mind, observation)
    parts = [score(mind, policy) for policy in mind.policies]
    epistemic, pragmatic = Float64[first(part) for part in parts], Float64[last(part) for part in parts]
    scores = epistemic .+ pragmatic
    weights = softmax_of(GAMMA .* scores .+ mind.log_habit)
    action = first(mind.policies[argmax(weights)])
    act!(mind, action)
    row = (agent = agent.name, step = step, states = states === nothing ? nothing : states .- 1,
        observation = observation .- 1, beliefs = beliefs, free_energy = mind.free_energy,
        policies = weights, negative_expected_free_energy = scores, epistemic_value = epistemic,
        pragmatic_value = pragmatic, action = action .- 1)
    if is_first && any(counts !== nothing for counts in agent.counts_D)
        added = [LEARNING_RATES.D .* belief for belief in beliefs]
        start = [c === nothing ? nothing : normalised(c .+ more) for (c, more) in zip(agent.counts_D, added)]
        row = (; row..., learnt_D = start)
    end
    println(json(row))
    return row
end

function main(steps = STEPS, seed = SEED)
    rng = MersenneTwister(seed)
    minds = [Mind(agent) for agent in AGENTS]
    worlds = [[draw(rng, prior) for prior in agent.D] for agent in (IS_LEVELS ? AGENTS[1:1] : AGENTS)]
    periods = [prod(RATIOS[1:level]) for level in eachindex(RATIOS)]
    for step in 0:(steps - 1)
        # Each level sets the prior of the level below, and observes its state at the end of a period.
        for level in reverse(eachindex(periods))
            step % periods[level] == 0 && (minds[level].prior = [expected_outcomes(minds[level + 1])])
        end
        for (index, states) in enumerate(worlds)
            row = turn!(minds[index], step, observe(rng, AGENTS[index], states), states)
            worlds[index] = move(rng, AGENTS[index], states, row.action .+ 1)
        end
        for level in eachindex(periods)
            (step + 1) % periods[level] == 0 || break
            turn!(minds[level + 1], step, [argmax(minds[level].beliefs[1])])
        end
    end
end

abspath(PROGRAM_FILE) == @__FILE__() && main(parse.(Int, ARGS)...)
`;

/** Julia code after the matrices of a linear-Gaussian model. */
export const LINEAR_RUN = `${JSON_LINES}
@model function linear_gaussian(y, F, H, Q, R, prior_mean, prior_covariance)
    x[1] ~ MvNormal(mean = prior_mean, covariance = prior_covariance)
    y[1] ~ MvNormal(mean = H * x[1], covariance = R)
    for t in 2:length(y)
        x[t] ~ MvNormal(mean = F * x[t - 1], covariance = Q)
        y[t] ~ MvNormal(mean = H * x[t], covariance = R)
    end
end

# Negative logarithm of the density of an observation, given the belief about the state before it.
function surprise(y, mean, covariance)
    expected = H * covariance * transpose(H) + R
    difference = y - H * mean
    return (sum(difference .* (expected \\ difference)) + logdet(expected) + length(y) * log(2pi)) / 2
end

gaussian(rng, mean, covariance) = mean + cholesky(Symmetric(covariance)).L * randn(rng, length(mean))

function main(steps = STEPS, seed = SEED)
    rng = MersenneTwister(seed)
    state, seen = gaussian(rng, PRIOR_MEAN, PRIOR_COVARIANCE), Vector{Float64}[]
    before_mean, before_covariance = PRIOR_MEAN, PRIOR_COVARIANCE
    for step in 1:steps
        push!(seen, gaussian(rng, H * state, R))
        # Last state of a filter over the observations so far.
        prior = (prior_mean = PRIOR_MEAN, prior_covariance = PRIOR_COVARIANCE)
        model = linear_gaussian(; F = F, H = H, Q = Q, R = R, prior...)
        # A thousand consecutive steps would exceed the stack.
        result = infer(model = model, data = (y = seen,), options = (limit_stack_depth = 100,))
        believed = result.posteriors[:x][end]
        belief = (mean = mean(believed), covariance = cov(believed))
        energy = surprise(seen[end], before_mean, before_covariance)
        println(json((step = step - 1, state = state, observation = seen[end], belief..., free_energy = energy)))
        before_mean, before_covariance = F * belief.mean, F * belief.covariance * transpose(F) + Q
        state = gaussian(rng, F * state, Q)
    end
end

abspath(PROGRAM_FILE) == @__FILE__() && main(parse.(Int, ARGS)...)
`;
