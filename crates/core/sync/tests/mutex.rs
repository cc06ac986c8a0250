//! A lock after a panic under it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agentwire_sync::Mutex;

#[test]
fn a_panic_leaves_the_value_as_it_was() {
    let mut mutex = Mutex::new(1);
    let panics = || {
        let mut value = mutex.lock();
        *value = 2;
        assert!(mutex.try_lock().is_none());
        assert_eq!(format!("{mutex:?}"), "Mutex(<locked>)");
        panic!("on purpose");
    };
    assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
    assert_eq!(*mutex.lock(), 2);
    assert_eq!(mutex.try_lock().map(|value| *value), Some(2));
    *mutex.get_mut() += 1;
    assert_eq!(format!("{mutex:?}"), "Mutex(3)");
    assert_eq!((Mutex::from(4).into_inner(), mutex.into_inner()), (4, 3));
}
