//! The words that the baseline leaves out of a query. A list of its own: the baseline must stay what
//! it is when the product's list changes.

/// English words that say nothing about what is looked for.
pub(super) const STOP_WORDS: &str = "a an and are as at be been but by can could d did do does doing \
    for from had has have having he her hers him his how i if in into is it its itself just ll m me \
    my of on or our ours re s she should so some such t than that the their theirs them then there \
    these they this those to too ve very was we were what when where which while who whom why will \
    with would you your yours about after again all also am any before being between both during \
    each few more most no nor not only other over own same up down out off under until because \
    against further once here myself yourself himself herself themselves ourselves don didn doesn \
    isn wasn aren won wouldn couldn shouldn";
