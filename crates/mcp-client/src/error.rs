/// Any error of the code that is given to [`connect`](crate::connect), or of what comes before it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
