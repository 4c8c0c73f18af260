/** Names of the Active Inference Ontology that files of GNN use: names alone, since only those must agree. */
export const TERMS: ReadonlySet<string> = new Set(
  (
    "Action BetaParameter BetaUpdateTerm ConstraintParameter ControlInputMatrix ControlVariance ExpectedFreeEnergy " +
    "ExpectedFreeEnergyPerPolicy GammaParameter GenerativeModel GenerativeProcess GoalConstraintVariance Habit " +
    "HiddenState InferenceIterations InitialBeta InitialPolicyProbability InitialStateVariance LikelihoodMapping " +
    "LikelihoodMatrix LogPreferenceVector NextHiddenState NumberOfAgents ObservableState Observation " +
    "ObservationMatrix Policy PolicyVector PosteriorBelief Precision PrecisionParameter Preference Preferences Prior " +
    "PriorBelief PriorOnAction PriorOverHiddenStates RecognitionMatrix SoftminTemperature StateTransitionMatrix Time " +
    "TimeStep TrajectoryLength TransitionMatrix VariationalFreeEnergy"
  ).split(" "),
);

/** Terms of which models with several modalities or factors have one each: `LikelihoodMatrixModality1`. */
const NUMBERED =
  /^(?:(?:LikelihoodMatrix|LogPreferenceVector|Observation)Modality|(?:Action|HiddenState|NextHiddenState|PolicyVector|PriorOverHiddenStates|TransitionMatrix)Factor)\d{1,4}$/;

export function isKnownTerm(term: string): boolean {
  return TERMS.has(term) || NUMBERED.test(term);
}
