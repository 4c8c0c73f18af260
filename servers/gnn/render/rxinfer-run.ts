/** What follows the numbers of a discrete model: the graph of states, policies by expected free energy, a world. */
export const DISCRETE_RUN = `
const SMALLEST = 2.0^-52
logarithm(x) = log.(max.(x, SMALLEST))
softmax_of(x) = (powers = exp.(x .- maximum(x)); powers ./ sum(powers))

# One vector of outcomes for each modality and step; transitions are those of the actions that were taken.
@model function states_of(observations, A, transitions, D)
    s[1] ~ Categorical(D)
    for m in 1:length(A)
        observations[m, 1] ~ DiscreteTransition(s[1], A[m])
    end
    for t in 2:size(observations, 2)
        s[t] ~ DiscreteTransition(s[t - 1], transitions[t - 1])
        for m in 1:length(A)
            observations[m, t] ~ DiscreteTransition(s[t], A[m])
        end
    end
end

# The same with one likelihood that is learnt from the counts.
@model function learning_states_of(observations, counts, transitions, D)
    A ~ DirichletCollection(counts)
    s[1] ~ Categorical(D)
    observations[1, 1] ~ DiscreteTransition(s[1], A)
    for t in 2:size(observations, 2)
        s[t] ~ DiscreteTransition(s[t - 1], transitions[t - 1])
        observations[1, t] ~ DiscreteTransition(s[t], A)
    end
end

learning_constraints = @constraints begin
    q(s, A) = q(s) * q(A)
end

function beliefs_of(agent, seen, transitions)
    data = (observations = reduce(hcat, seen),)
    if agent.counts[1] === nothing
        result = infer(model = states_of(A = agent.A, transitions = transitions, D = agent.D), data = data)
        return probvec(result.posteriors[:s][end]), agent.A
    end
    initial = @initialization begin
        q(A) = DirichletCollection(agent.counts[1])
    end
    result = infer(
        model = learning_states_of(counts = agent.counts[1], transitions = transitions, D = agent.D),
        data = data,
        constraints = learning_constraints,
        initialization = initial,
        iterations = 16,
        returnvars = (s = KeepLast(), A = KeepLast()),
    )
    return probvec(result.posteriors[:s][end]), [mean(result.posteriors[:A])]
end

# The negative expected free energy of a policy.
function score(agent, A, belief, policy)
    total = 0.0
    for action in policy
        belief = agent.B[:, :, action] * belief
        for (table, preference) in zip(A, agent.C)
            outcomes = table * belief
            uncertain = -sum((table .* logarithm(table)) * belief)
            total += -sum(outcomes .* logarithm(outcomes)) - uncertain + sum(outcomes .* preference)
        end
    end
    return total
end

draw(rng, probabilities) = something(findfirst(>=(rand(rng)), cumsum(probabilities)), argmax(probabilities))
one_hot(place, length) = Float64.(1:length .== place)

function run_agent(agent, steps, rng)
    policies = vec(collect(Iterators.product(ntuple(_ -> 1:size(agent.B, 3), POLICY_LENGTH)...)))
    habit = agent.E === nothing ? fill(1 / length(policies), length(policies)) : agent.E
    length(habit) == length(policies) || error("E must have a number for each policy.")
    state, seen, transitions = draw(rng, agent.D), Vector{Vector{Float64}}[], Matrix{Float64}[]
    for step in 1:steps
        outcomes = [draw(rng, table[:, state]) for table in agent.A]
        push!(seen, [one_hot(outcome, size(table, 1)) for (outcome, table) in zip(outcomes, agent.A)])
        belief, A = beliefs_of(agent, seen, transitions)
        scores = [score(agent, A, belief, reverse(policy)) for policy in policies]
        weights = softmax_of(GAMMA .* scores .+ logarithm(habit))
        action = last(policies[argmax(weights)])
        println((agent = agent.name, step = step - 1, state = state - 1, observation = outcomes .- 1, belief = belief,
            policies = weights, action = action - 1))
        push!(transitions, agent.B[:, :, action])
        state = draw(rng, agent.B[:, state, action])
    end
end

function main(steps = STEPS, seed = 0)
    rng = MersenneTwister(seed)
    foreach(agent -> run_agent(agent, steps, rng), AGENTS)
end

abspath(PROGRAM_FILE) == @__FILE__() && main(parse.(Int, ARGS)...)
`;

/** What follows the matrices of a linear-Gaussian model. */
export const LINEAR_RUN = `
@model function linear_gaussian(y, F, H, Q, R, prior_mean, prior_covariance)
    x[1] ~ MvNormal(mean = prior_mean, covariance = prior_covariance)
    y[1] ~ MvNormal(mean = H * x[1], covariance = R)
    for t in 2:length(y)
        x[t] ~ MvNormal(mean = F * x[t - 1], covariance = Q)
        y[t] ~ MvNormal(mean = H * x[t], covariance = R)
    end
end

gaussian(rng, mean, covariance) = mean + cholesky(Symmetric(covariance)).L * randn(rng, length(mean))

function main(steps = STEPS, seed = 0)
    rng = MersenneTwister(seed)
    state, seen = gaussian(rng, PRIOR_MEAN, PRIOR_COVARIANCE), Vector{Float64}[]
    for step in 1:steps
        push!(seen, gaussian(rng, H * state, R))
        # The last state of what was seen so far: a filter, step by step.
        prior = (prior_mean = PRIOR_MEAN, prior_covariance = PRIOR_COVARIANCE)
        result = infer(model = linear_gaussian(; F = F, H = H, Q = Q, R = R, prior...), data = (y = seen,))
        believed = result.posteriors[:x][end]
        belief = (mean = mean(believed), covariance = cov(believed))
        println((step = step - 1, state = state, observation = seen[end], belief...))
        state = gaussian(rng, F * state, Q)
    end
end

abspath(PROGRAM_FILE) == @__FILE__() && main(parse.(Int, ARGS)...)
`;
